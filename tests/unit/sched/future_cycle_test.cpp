// SPDX-License-Identifier: Apache-2.0
// Tasks that wait for each other's futures in a cycle are told so, by name, and tasks that merely wait in long chains,
// or on stacks that others waited on before, are not. The work per wait is bounded: the edges that are followed are
// counted.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sched/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/sync.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

struct given {
  unsigned workers;
  unsigned length;
};

class future_cycles : public testing::TestWithParam<given> {};

INSTANTIATE_TEST_SUITE_P(shapes, future_cycles,
                         testing::Values(given{1, 1}, given{1, 2}, given{1, 3}, given{2, 1}, given{2, 2}, given{2, 3},
                                         given{4, 1}, given{4, 2}, given{4, 3}, given{4, 10}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.workers) + "_workers_length_" +
                                  std::to_string(shape.param.length);
                         });

constexpr const char* k_names[] = {"ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "jim"};

// Task i asks for the result of task i + 1, once all are there to be asked. Gives how many were told of a cycle.
unsigned close_cycle(unsigned length, unsigned yields, bool through_then, std::string& message) {
  std::vector<future<int>> results(length);
  std::atomic<unsigned> told{0};
  latch begun(length + 1);
  latch ended(length);
  mutex guard;
  for (unsigned i = 0; i < length; ++i) {
    results[i] = async(k_names[i], [&, i, next = (i + 1) % length] {
      begun.arrive_and_wait();
      for (unsigned y = 0; y < yields * i; ++y) yield();
      int got = 0;
      try {
        results[next].wait();
        got = 1;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::deadlock) << e.what();
        ++told;
        const std::lock_guard lock(guard);
        message = e.what();
      }
      ended.count_down();
      return got;
    });
    if (through_then) results[i] = results[i].then([](int x) { return x; });
  }
  begun.count_down();
  ended.wait();
  for (auto& r : results) r.get();
  return told;
}

TEST_P(future_cycles, are_named_and_not_hung) {
  sched::run_pool(GetParam().workers, [] {
    for (const bool through_then : {false, true})
      for (unsigned yields = 0; yields < 20; ++yields) {
        std::string message;
        const unsigned told = close_cycle(GetParam().length, yields, through_then, message);
        ASSERT_GE(told, 1U);
        ASSERT_LE(told, GetParam().length);
        for (unsigned i = 0; i < GetParam().length; ++i)
          EXPECT_NE(message.find(std::string("task '") + k_names[i] + "'"), std::string::npos) << message;
        EXPECT_EQ(message.find("task no."), std::string::npos) << message;
      }
  });
}

TEST_P(future_cycles, are_not_seen_where_there_are_none) {
  sched::run_pool(GetParam().workers, [] {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < rounds(20, 12); ++round) {
      constexpr unsigned k_tasks = 500;
      std::vector<future<unsigned>> results(k_tasks);
      std::vector<std::unique_ptr<std::atomic<bool>>> taken;
      for (unsigned i = 0; i < k_tasks; ++i) taken.push_back(std::make_unique<std::atomic<bool>>(false));
      semaphore go(0);
      const bool backwards = round % 2 == 0;
      const auto body = [&](unsigned i, unsigned yields) {
        if (i == 0) go.acquire();
        for (unsigned y = 0; y < yields; ++y) yield();
        // Mostly the one before: chains; each result is waited for by one task.
        unsigned sum = 1;
        for (unsigned j = i; j-- > 0 && j + 3 > i;)
          if (!taken[j]->exchange(true)) sum += results[j].get();
        return sum;
      };
      latch made(1);
      for (unsigned n = 0; n < k_tasks; ++n) {
        const unsigned i = backwards ? k_tasks - 1 - n : n;
        const unsigned yields = static_cast<unsigned>(random() % 5);
        results[i] = async([&body, &made, i, yields] {
          made.wait();
          return body(i, yields);
        });
      }
      made.count_down();
      for (int y = 0; y < 10; ++y) yield();
      go.release();
      unsigned sum = 0;
      for (unsigned i = k_tasks; i-- > 0;)
        if (!taken[i]->exchange(true)) sum += results[i].get();
      EXPECT_EQ(sum, k_tasks);
    }
  });
}

TEST(future_cycle, of_tasks_without_names_gives_their_numbers) {
  sched::run_pool(1, [] {
    std::string message;
    future<void> self;
    self = async([&] {
      try {
        self.get();
      } catch (const error& e) {
        message = e.what();
      }
    });
    yield();
    self.wait();
    EXPECT_NE(message.find("task no. "), std::string::npos) << message;
    EXPECT_NE(message.find(" of worker 0"), std::string::npos) << message;
  });
}

TEST(future_cycle, of_a_part_of_when_all_is_named_too) {
  sched::run_pool(2, [] {
    std::string message;
    future<std::tuple<int, int>> both;
    future<int> self;
    semaphore made(0);
    semaphore told(0);
    self = async("snake", [&] {
      made.acquire();
      both = when_all(async([] { return 1; }), std::move(self));
      try {
        both.wait();
      } catch (const error& e) {
        message = e.what();
      }
      told.release();
      return 2;
    });
    made.release();
    told.acquire();
    EXPECT_EQ(both.get(), std::tuple(1, 2));
    EXPECT_NE(message.find("task 'snake' waits for task 'snake'"), std::string::npos) << message;
  });
}

// Longer than a wait follows edges: the worker finds the cycle when it has nothing else to run.
TEST(future_cycle, longer_than_one_search_is_found_when_the_worker_has_nothing_to_run) {
  for (const unsigned workers : {1U, 2U})
    sched::run_pool(workers, [] {
      constexpr unsigned k_tasks = 3 * sched::cycle_searches::k_steps_later;
      std::vector<std::string> names;
      for (unsigned i = 0; i < k_tasks; ++i) names.push_back("link " + std::to_string(i));
      std::vector<future<void>> results(k_tasks);
      std::atomic<unsigned> told{0};
      latch begun(k_tasks + 1);
      latch ended(k_tasks);
      mutex guard;
      std::string message;
      for (unsigned i = 0; i < k_tasks; ++i)
        results[i] = async(names[i].c_str(), [&, next = (i + 1) % k_tasks] {
          begun.arrive_and_wait();
          try {
            results[next].wait();
          } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::deadlock) << e.what();
            ++told;
            const std::lock_guard lock(guard);
            message = e.what();
          }
          ended.count_down();
        });
      begun.count_down();
      ended.wait();
      for (auto& r : results) r.get();
      EXPECT_GE(told, 1U);
      for (const std::string& name : names) ASSERT_NE(message.find("task '" + name + "'"), std::string::npos) << name;
    });
}

struct counted {
  std::uint64_t at_once;
  std::uint64_t later;
};

// Task i waits for what task i - 1 gives, after it; between the two, if `indirect`, a task that waited first. Gives the
// edges that were followed.
counted chain(unsigned length, bool indirect) {
  counted steps{};
  sched::run_pool(1, [&] {
    const auto now = [] {
      const sched::cycle_searches& s = sched::this_worker()->searches();
      return counted{s.steps_at_once(), s.steps_later()};
    };
    promise<unsigned> first;
    future<unsigned> last = first.get_future();
    for (unsigned i = 1; i < length; ++i) {
      if (!indirect) {
        last = async([before = std::move(last)]() mutable { return before.get() + 1; });
        yield();  // it waits
      } else {
        auto go = std::make_unique<semaphore>(0);
        semaphore& may_go = *go;
        future<unsigned> inner = async([before = std::move(last), go = std::move(go)]() mutable {
          go->acquire();
          return before.get() + 1;
        });
        yield();
        last = async([in = std::move(inner)]() mutable { return in.get(); });
        yield();
        may_go.release();
        yield();
      }
    }
    steps = now();
    first.set_value(1);
    EXPECT_EQ(last.get(), length);
  });
  return steps;
}

TEST(future_cycle, search_in_a_long_chain_of_waits_follows_no_edges) {
  constexpr unsigned k_length = rounds(16'000, 1'000);  // TSan knows 8128 stacks at most
  const counted steps = chain(k_length, false);
  RecordProperty("steps_at_once", std::to_string(steps.at_once));
  EXPECT_EQ(steps.at_once, 0U);
  EXPECT_EQ(steps.later, 0U);
}

TEST(future_cycle, search_is_bounded_where_each_task_is_waited_for_before_it_waits) {
  constexpr unsigned k_length = rounds(2'000, 500);
  const counted steps = chain(k_length, true);
  EXPECT_GT(steps.at_once, k_length);  // or the chain is not what it should be
  EXPECT_LE(steps.at_once, std::uint64_t{k_length} * sched::cycle_searches::k_steps_at_once);
}

}  // namespace
}  // namespace shoal
