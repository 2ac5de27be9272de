// SPDX-License-Identifier: Apache-2.0
#include "shoal/when_any.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;

class any : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, any, testing::Values(1U, 2U, 4U));

TEST_P(any, gives_the_first_result_and_all_futures_back) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    std::vector<shoal::future<int>> futures;
    for (int i = 0; i < 5; ++i)
      futures.push_back(shoal::async([&go, i] {
        if (i != 3) go.wait();
        return i;
      }));
    auto first = shoal::when_any(std::move(futures)).get();
    EXPECT_EQ(first.index, 3U);
    ASSERT_EQ(first.futures.size(), 5U);
    EXPECT_EQ(first.futures[3].get(), 3);
    EXPECT_FALSE(first.futures[1].wait_for(std::chrono::milliseconds(1)));
    go.count_down();
    for (const int i : {0, 1, 2, 4}) EXPECT_EQ(first.futures[static_cast<std::size_t>(i)].get(), i);
  });
}

TEST_P(any, takes_futures_of_several_types_and_those_that_are_ready) {
  run_pool(GetParam(), [] {
    auto ready = shoal::async([] { return std::string("ready"); });
    ready.wait();
    shoal::latch go(1);
    auto first = shoal::when_any(shoal::async([&go] { go.wait(); }), std::move(ready)).get();
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(std::get<1>(first.futures).get(), "ready");
    go.count_down();
    std::get<0>(first.futures).get();
  });
}

TEST_P(any, an_exception_is_a_result) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    auto first =
        shoal::when_any(shoal::async([&go] { go.wait(); }), shoal::async([] { throw std::runtime_error("x"); })).get();
    EXPECT_EQ(first.index, 1U);
    EXPECT_THROW(std::get<1>(first.futures).get(), std::runtime_error);
    go.count_down();
  });
}

TEST_P(any, works_with_continuations_promises_and_gathered_futures) {
  run_pool(GetParam(), [] {
    shoal::promise<int> never_set_before_the_end;
    auto late = never_set_before_the_end.get_future();
    auto index =
        shoal::when_any(std::move(late), shoal::when_all(shoal::async([] { return 1; }), shoal::async([] { return 2; }))
                                             .then([](std::tuple<int, int> both) { return std::get<1>(both); }))
            .then([](auto first) {
              EXPECT_EQ(std::get<1>(first.futures).get(), 2);
              return first.index;
            });
    EXPECT_EQ(index.get(), 1U);
    never_set_before_the_end.set_value(3);
    shoal::promise<int> a;
    shoal::promise<int> b;
    auto one = shoal::when_any(a.get_future(), b.get_future());
    EXPECT_FALSE(one.ready());
    b.set_value(5);
    auto got = one.get();
    EXPECT_EQ(got.index, 1U);
    a.set_value(6);
    EXPECT_EQ(std::get<0>(got.futures).get(), 6);
    auto whole = shoal::when_any(shoal::when_all(shoal::async([] {}), shoal::async([] { return 4; })),
                                 shoal::async([] { shoal::sleep_for(std::chrono::milliseconds(1)); }));
    whole.wait();
  });
}

TEST_P(any, may_be_dropped) {
  run_pool(GetParam(), [] {
    int ended = 0;
    {
      auto dropped = shoal::when_any(shoal::async([&] { shoal::yield(); }), shoal::async([&] {
                                       shoal::sleep_for(std::chrono::milliseconds(2));
                                       ++ended;
                                     }));
    }
    EXPECT_EQ(ended, 1);
    shoal::promise<int> p;
    { auto dropped = shoal::when_any(p.get_future(), shoal::promise<int>().get_future()); }
    p.set_value(1);
  });
}

// A task may use what outlives its future, whatever else was waited for with it.
TEST_P(any, dropped_beside_a_promise_waits_for_its_tasks) {
  run_pool(GetParam(), [] {
    for (const bool set_before : {false, true}) {
      shoal::promise<int> event;
      shoal::latch go(1);
      std::atomic<bool> dropping{false};
      std::atomic<bool> ended{false};
      shoal::task_group group;
      group.run([&] {
        while (!dropping) shoal::yield();
        go.count_down();
      });
      {
        auto first = shoal::when_any(shoal::async([&] {
                                       go.wait();
                                       ended = true;
                                       return 1;
                                     }),
                                     event.get_future());
        EXPECT_FALSE(first.wait_for(std::chrono::microseconds(100)));
        if (set_before) event.set_value(0);
        dropping = true;
      }
      EXPECT_TRUE(ended);
      group.wait();
      if (!set_before) event.set_value(0);
    }
  });
}

// Many complete at the same time; each result arrives once.
TEST_P(any, races_end_with_one_winner) {
  run_pool(GetParam(), [] {
    for (int round = 0; round < shoal::rounds(500, 80); ++round) {
      std::vector<shoal::future<int>> futures;
      for (int i = 0; i < 8; ++i)
        futures.push_back(shoal::async([i, round] {
          for (int k = 0; k < (i + round) % 4; ++k) shoal::yield();
          return i;
        }));
      int sum = 0;
      while (!futures.empty()) {
        auto first = shoal::when_any(std::move(futures)).get();
        futures = std::move(first.futures);
        ASSERT_TRUE(futures[first.index].ready());
        sum += futures[first.index].get();
        futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(first.index));
      }
      ASSERT_EQ(sum, 28);
    }
  });
}

}  // namespace
