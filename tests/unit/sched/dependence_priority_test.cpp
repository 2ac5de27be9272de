// SPDX-License-Identifier: Apache-2.0
// Priorities of tasks of flows and graphs: the order on one worker.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "shoal/sync.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

// What began in which order. Locked for TSan's sake, which sees stacks where there is one thread.
class beginnings {
public:
  void add(int number) {
    const std::lock_guard hold(guard_);
    numbers_.push_back(number);
  }
  std::vector<int> take() {
    const std::lock_guard hold(guard_);
    return std::exchange(numbers_, {});
  }

private:
  std::mutex guard_;
  std::vector<int> numbers_;
};

TEST(dependence_priority, decides_which_successors_of_a_flows_task_begin_first) {
  run_pool(1, [] {
    beginnings order;
    int x = 0;
    task_flow f;
    const auto note = [&order](int n) { return [&order, n] { order.add(n); }; };
    f.run(out(x), [] {});
    f.run(priority::background, in(x), note(40));
    f.run(priority::low, in(x), note(30));
    f.run(priority::low, in(x), note(31));
    f.run(in(x), note(20));
    f.run(priority::high, in(x), note(10));
    f.run(priority::high, in(x), note(11));
    f.wait();
    EXPECT_EQ(order.take(), (std::vector<int>{10, 11, 20, 30, 31, 40}));
  });
}

TEST(dependence_priority, decides_among_tasks_of_a_flow_that_can_begin_at_once) {
  run_pool(1, [] {
    beginnings order;
    task_flow f;
    const auto note = [&order](int n) { return [&order, n] { order.add(n); }; };
    f.run(priority::low, note(30));
    f.run(note(20));
    f.run(priority::normal, note(21));
    f.run(priority::background, note(40));
    f.wait();
    EXPECT_EQ(order.take(), (std::vector<int>{21, 20, 30, 40}));
  });
}

TEST(dependence_priority, decides_which_successors_in_a_graph_begin_first) {
  run_pool(1, [] {
    beginnings order;
    task_graph g;
    auto first = g.add([] {});
    const auto add = [&](int n, priority p) {
      auto made = g.add([&order, n] { order.add(n); });
      made.set_priority(p);
      first.precedes(made);
      return made;
    };
    add(40, priority::background);
    add(30, priority::low);
    const auto normal = add(20, priority::normal);
    add(10, priority::high);
    add(11, priority::high);
    auto after = g.add([&order] { order.add(21); });
    normal.precedes(after);
    for (int round = 0; round < 3; ++round) {
      g.run();
      std::vector<int> began = order.take();
      ASSERT_EQ(began.size(), 6U);
      std::sort(began.begin(), began.begin() + 2);  // the strand may go on with either
      EXPECT_EQ(began, (std::vector<int>{10, 11, 20, 21, 30, 40}));
    }
  });
}

TEST(dependence_priority, decides_among_sources_of_a_graph) {
  run_pool(1, [] {
    beginnings order;
    task_graph g;
    const auto add = [&](int n) { return g.add([&order, n] { order.add(n); }); };
    add(30).set_priority(priority::low);
    add(20);
    add(21);
    add(10).set_priority(priority::high);
    g.run();
    EXPECT_EQ(order.take(), (std::vector<int>{10, 20, 21, 30}));
  });
}

// A task of low priority keeps nothing from others before it is its turn.
TEST(dependence_priority, decides_also_among_tasks_that_exclude_each_other) {
  run_pool(1, [] {
    beginnings order;
    int x = 0;
    task_flow f;
    const auto note = [&order](int n) { return [&order, n] { order.add(n); }; };
    f.run(out(x), [] {});
    f.run(priority::background, commutative(x), note(40));
    f.run(priority::low, commutative(x), note(30));
    f.run(commutative(x), note(20));
    f.run(commutative(x), note(21));
    f.wait();
    EXPECT_EQ(order.take(), (std::vector<int>{20, 21, 30, 40}));

    task_graph g;
    auto first = g.add([] {});
    for (const int n : {40, 30, 20, 21}) {
      auto made = g.add(note(n));
      made.uses(x);
      made.set_priority(n == 40 ? priority::background : n == 30 ? priority::low : priority::normal);
      if (n != 30) first.precedes(made);
    }
    for (int round = 0; round < 3; ++round) {
      g.run();
      EXPECT_EQ(order.take(), (std::vector<int>{20, 21, 30, 40}));
    }
  });
}

// One of high priority that becomes ready in the middle of a chain.
TEST(dependence_priority, a_chain_of_normal_tasks_lets_a_high_one_begin) {
  run_pool(1, [] {
    beginnings order;
    int x = 0;
    int y = 0;
    task_flow f;
    for (int i = 0; i < 6; ++i) {
      if (i == 2)
        f.run(inout(x), out(y), [&order] { order.add(2); });
      else
        f.run(inout(x), [&order, i] { order.add(i); });
    }
    f.run(priority::high, in(y), [&order] { order.add(100); });
    f.wait();
    EXPECT_EQ(order.take(), (std::vector<int>{0, 1, 2, 100, 3, 4, 5}));
  });
}

TEST(dependence_priority, all_tasks_run_once_under_load) {
  for (const unsigned workers : {2U, 4U})
    run_pool(workers, [] {
      constexpr int k_tasks = 400;
      std::vector<std::atomic<int>> runs(k_tasks);
      task_graph g;
      std::vector<task_graph::handle> made;
      for (int i = 0; i < k_tasks; ++i) {
        made.push_back(g.add([&runs, i] {
          if (i % 7 == 0) yield();
          ++runs[static_cast<std::size_t>(i)];
        }));
        made.back().set_priority(static_cast<priority>(i % 4));
        if (i >= 10) made[static_cast<std::size_t>(i) - 10 + static_cast<std::size_t>(i) % 3].precedes(made.back());
      }
      for (int round = 1; round <= 5; ++round) {
        g.run();
        for (const auto& r : runs) ASSERT_EQ(r.load(), round);
      }
    });
}

}  // namespace
}  // namespace shoal::sched
