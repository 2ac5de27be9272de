// SPDX-License-Identifier: Apache-2.0
// Tasks of a graph that use the same object.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <vector>

#include "shoal/sync.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class graph_exclusions : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, graph_exclusions, testing::Values(1U, 2U, 4U));

TEST_P(graph_exclusions, tasks_that_use_the_same_object_run_one_at_a_time) {
  run([] {
    int sum = 0;  // not atomic
    bool inside = false;
    int overlaps = 0;
    task_graph g;
    for (int i = 1; i <= 200; ++i)
      g.add([&, i] {
         if (inside) ++overlaps;
         inside = true;
         if (i % 3 == 0) yield();
         sum += i;
         inside = false;
       }).uses(sum);
    for (int round = 1; round <= 4; ++round) {
      g.run();
      EXPECT_EQ(sum, round * 200 * 201 / 2);
    }
    EXPECT_EQ(overlaps, 0);
  });
}

TEST_P(graph_exclusions, tasks_that_use_other_objects_run_together) {
  run([] {
    int x = 0;
    int y = 0;
    latch met(3);
    task_graph g;
    g.add([&met] { met.arrive_and_wait(); }).uses(x);
    g.add([&met] { met.arrive_and_wait(); }).uses(y);
    g.add([&met] { met.arrive_and_wait(); });
    g.run();
    EXPECT_TRUE(met.try_wait());
  });
}

TEST_P(graph_exclusions, tasks_may_use_several_objects_in_any_order) {
  run([] {
    constexpr std::size_t k_seats = 5;
    std::array<int, k_seats> forks{};
    task_graph g;
    for (std::size_t i = 0; i < 100; ++i) {
      int& left = forks[i % k_seats];
      int& right = forks[(i + 1) % k_seats];
      auto eats = g.add([&left, &right] {
        const int before = left + right;
        yield();
        EXPECT_EQ(left + right, before);
        ++left;
        ++right;
      });
      if (i % 2 == 0)
        eats.uses(left, right);
      else
        eats.uses(right, left, right);
    }
    for (int round = 1; round <= 10; ++round) {
      g.run();
      for (const int f : forks) ASSERT_EQ(f, 40 * round);
    }
  });
}

TEST_P(graph_exclusions, hold_beside_orders_priorities_and_conditions) {
  run([] {
    int x = 0;
    int rounds = 0;
    std::vector<int> seen;
    task_graph g;
    auto begin = g.add([&] {
      x = 0;
      rounds = 0;
    });
    auto fork = g.add([] {});
    auto join = g.add_condition([&] {
      seen.push_back(x);
      return ++rounds < 20 ? 0 : task_graph::k_none;
    });
    begin.precedes(fork);
    for (int i = 0; i < 12; ++i) {
      auto each = g.add([&x, i] {
        const int before = x;
        if (i % 4 == 0) yield();
        x = before + 1;
      });
      each.uses(x);
      each.set_priority(static_cast<priority>(i % 4));
      fork.precedes(each);
      each.precedes(join);
    }
    join.chooses(fork);
    for (int round = 0; round < 3; ++round) {
      seen.clear();
      g.run();
      ASSERT_EQ(seen.size(), 20U);
      for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 12 * static_cast<int>(i + 1));
    }
  });
}

TEST_P(graph_exclusions, an_exception_leaves_nothing_in_use) {
  run([] {
    int x = 0;
    bool fails = true;
    task_graph g;
    for (int i = 0; i < 50; ++i)
      g.add([&, i] {
         if (i == 20 && fails) throw std::runtime_error("bad");
         ++x;
       }).uses(x);
    EXPECT_THROW(g.run(), std::runtime_error);
    fails = false;
    x = 0;
    g.run();
    EXPECT_EQ(x, 50);
  });
}

TEST_P(graph_exclusions, waiting_tasks_take_no_stack) {
  run([] {
    constexpr int k_tasks = 20'000;  // the pool has 16384 stacks
    int x = 0;
    semaphore held(0);
    semaphore go(0);
    task_graph g;
    auto holds = g.add([&] {
      held.release();
      go.acquire();
    });
    holds.uses(x);
    auto fork = g.add([&held] { held.acquire(); });
    for (int i = 0; i < k_tasks; ++i) {
      auto each = g.add([&x] { ++x; });
      each.uses(x);
      fork.precedes(each);
    }
    fork.precedes(g.add([&go] { go.release(); }));
    g.run();
    EXPECT_EQ(x, k_tasks);
  });
}

}  // namespace
}  // namespace shoal::sched
