// SPDX-License-Identifier: Apache-2.0
// Elements of all kinds of ranges and those that the body adds; stop requests, exceptions, the bound on chunks.
#include "shoal/parallel_for_each.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

constexpr unsigned k_worker_counts[] = {1, 2, 9};

// The numbers from `at` on, without random access; says when it goes on.
struct number_walk {
  using iterator_concept = std::forward_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  int at = 0;
  const std::function<void(int)>* on_step = nullptr;
  int operator*() const { return at; }
  number_walk& operator++() {
    ++at;
    if (on_step != nullptr) (*on_step)(at);
    return *this;
  }
  number_walk operator++(int) {
    const number_walk before = *this;
    ++*this;
    return before;
  }
  bool operator==(const number_walk& other) const { return at == other.at; }
};

template <class List>
void expect_each_once(List list, int count) {
  std::iota(list.begin(), list.end(), 0);
  std::atomic<int> calls{0};
  parallel_for_each(list, [&](int& x) {
    x = -x;
    ++calls;
  });
  EXPECT_EQ(calls, count);
  int i = 0;
  for (const int x : list) EXPECT_EQ(x, -i++);
}

TEST(parallel_for_each, calls_the_body_once_for_each_element) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      for (const int count : {0, 1, 2, 1000, rounds(20'000, 3000)}) {
        const auto n = static_cast<std::size_t>(count);
        expect_each_once(std::vector<int>(n), count);
        expect_each_once(std::deque<int>(n), count);
        expect_each_once(std::list<int>(n), count);
        expect_each_once(std::forward_list<int>(n), count);
      }
    });
}

TEST(parallel_for_each, takes_elements_of_an_input_range) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      std::stringstream text;
      for (int i = 0; i < 3000; ++i) text << i << ' ';
      std::atomic<long> sum{0};
      parallel_for_each(std::istream_iterator<int>(text), std::istream_iterator<int>(), [&](int x) { sum += x; });
      EXPECT_EQ(sum, 3000L * 2999 / 2);
      sum = 0;
      parallel_for_each(number_walk{}, number_walk{1000}, [&](int x) { sum += x; });
      EXPECT_EQ(sum, 500L * 999);
    });
}

// Gives what only moves, to be read once.
struct moving_input {
  using iterator_concept = std::input_iterator_tag;
  using value_type = std::unique_ptr<int>;
  using difference_type = std::ptrdiff_t;
  int at = 0;
  std::unique_ptr<int> operator*() const { return std::make_unique<int>(at); }
  moving_input& operator++() {
    ++at;
    return *this;
  }
  void operator++(int) { ++at; }
  bool operator==(std::default_sentinel_t) const { return at == 500; }
};

TEST(parallel_for_each, moves_what_cannot_be_copied) {
  run_pool(3, [] {
    std::atomic<int> sum{0};
    parallel_for_each(moving_input{}, std::default_sentinel, [&](std::unique_ptr<int> p) { sum += *p; });
    EXPECT_EQ(sum, 500 * 499 / 2);
    std::vector<std::unique_ptr<int>> roots(8);
    for (auto& root : roots) root = std::make_unique<int>(5);
    sum = 0;
    parallel_for_each(roots, [&](std::unique_ptr<int>& p, feeder<std::unique_ptr<int>>& more) {
      sum += *p;
      if (*p > 0) more.add(std::make_unique<int>(*p - 1));
    });
    EXPECT_EQ(sum, 8 * 15);
  });
}

TEST(parallel_for_each, takes_the_options_of_loops) {
  run_pool(3, [] {
    std::vector<int> x(1000);
    affinity_partitioner kept;
    const auto add = [](int& e) { ++e; };
    parallel_for_each(x, add, kept);
    parallel_for_each(x.begin(), x.end(), add, static_partitioner{});
    parallel_for_each(std::span(x), add, simple_partitioner{10}, std::stop_token());
    parallel_for_each(x, add, movable);
    parallel_for_each(x, add, stack_bytes(1 << 18));
    EXPECT_TRUE(std::all_of(x.begin(), x.end(), [](int e) { return e == 5; }));
    std::list<int> y(1000);
    parallel_for_each(y, add, simple_partitioner{3});
    parallel_for_each(y, add, movable);
    parallel_for_each(y, add, stack_bytes(1 << 18), std::stop_token());
    EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](int e) { return e == 3; }));
  });
}

TEST(parallel_for_each, hands_out_a_bounded_number_of_elements) {
  run_pool(2, [] {
    std::atomic<int> given{0};
    std::atomic<int> done{0};
    std::atomic<int> most{0};
    const std::function<void(int)> count = [&](int) {
      const int ahead = ++given - done;
      if (ahead > most) most = ahead;
    };
    parallel_for_each(number_walk{0, &count}, number_walk{20'000}, [&](int) { ++done; });
    EXPECT_EQ(done, 20'000);
    EXPECT_LE(most, (4 * 2 + 1) * 64 + 2);
  });
}

TEST(parallel_for_each, ends_at_the_first_exception) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      std::list<int> list(5000);
      std::iota(list.begin(), list.end(), 0);
      std::vector<int> vector(list.begin(), list.end());
      const auto body = [](int x) {
        if (x == 100) throw std::runtime_error("element 100");
      };
      EXPECT_THROW(parallel_for_each(list, body), std::runtime_error);
      EXPECT_THROW(parallel_for_each(vector, body), std::runtime_error);
      std::atomic<int> calls{0};
      const std::function<void(int)> fail = [](int at) {
        if (at == 300) throw std::logic_error("the iterator");
      };
      EXPECT_THROW(parallel_for_each(number_walk{0, &fail}, number_walk{5000}, [&](int) { ++calls; }),
                   std::logic_error);
      EXPECT_LE(calls, 300);
      const auto feeds = [](int x, feeder<int>& more) {
        if (x == 77) throw std::runtime_error("added 77");
        if (x < 1000) more.add(x + 1);
      };
      EXPECT_THROW(parallel_for_each(std::vector<int>{1, 2, 3}, feeds), std::runtime_error);
    });
}

TEST(parallel_for_each, ends_when_it_is_asked_to) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      std::stop_source source;
      std::atomic<int> calls{0};
      const auto body = [&](int) {
        if (++calls == 10) source.request_stop();
      };
      parallel_for_each(number_walk{}, number_walk{-1}, body, source.get_token());  // without end
      EXPECT_GE(calls, 10);
      std::stop_source second;
      calls = 0;
      parallel_for_each(
          std::vector<int>{1},
          [&](int x, feeder<int>& more) {
            more.add(x);  // without end
            if (++calls == 100) second.request_stop();
          },
          second.get_token());
      EXPECT_GE(calls, 100);
    });
}

TEST(parallel_for_each, processes_what_the_body_adds) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      // The nodes of binary trees.
      const std::list<int> roots{10, 9, 8};
      std::atomic<int> nodes{0};
      const auto visit = [&](int height, feeder<int>& more) {
        ++nodes;
        if (height > 0) {
          more.add(height - 1);
          more.add(height - 1);
        }
      };
      parallel_for_each(roots, visit);
      EXPECT_EQ(nodes, 2047 + 1023 + 511);
      nodes = 0;
      parallel_for_each(std::vector<int>(20, 6), visit, movable);
      EXPECT_EQ(nodes, 20 * 127);
      parallel_for_each(std::vector<int>(), visit);
      EXPECT_EQ(nodes, 20 * 127);
    });
}

TEST(parallel_for_each, nests_in_loops_and_waits_as_a_task) {
  for (const unsigned workers : k_worker_counts)
    run_pool(workers, [] {
      std::atomic<int> calls{0};
      parallel_for(0, 20, [&](int) {
        std::list<int> list(50);
        parallel_for_each(list, [&](int) {
          yield();
          ++calls;
        });
        parallel_for_each(std::vector<int>{5}, [&](int x, feeder<int>& more) {
          yield();
          if (x > 0) more.add(x - 1);
          ++calls;
        });
      });
      EXPECT_EQ(calls, 20 * 56);
    });
}

}  // namespace
}  // namespace shoal::sched
