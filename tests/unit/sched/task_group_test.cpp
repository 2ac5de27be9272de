// SPDX-License-Identifier: Apache-2.0
// Groups whose own tasks begin more in them.
#include "shoal/task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "pool_run.hpp"
#include "shoal/stack_bytes.hpp"
#include "shoal/sync.hpp"

namespace shoal::sched {
namespace {

class growing_groups : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, growing_groups, testing::Values(1U, 2U, 4U));

// A tree of which every node is a task of the same group.
struct tree {
  void visit(unsigned depth) {
    nodes.fetch_add(1, std::memory_order_relaxed);
    if (depth == 0) return;
    group.run([this, depth] { visit(depth - 1); });
    if (depth % 3 == 0) yield();
    group.run([this, depth] { visit(depth - 1); });
  }

  task_group group;
  std::atomic<int> nodes{0};
};

// A task in a group in a task in a group, and so on: children that ran inline without end would overflow the stack.
int nest(int depth) {
  if (depth == 0) return 0;
  int below = 0;
  task_group group;
  group.run([&below, depth] { below = nest(depth - 1); });
  group.wait();
  return below + 1;
}

TEST_P(growing_groups, nest_deeper_than_a_stack) {
  run_pool(GetParam(), [] {
    task_group group;
    group.run([] {
      EXPECT_EQ(nest(k_deep / 4), k_deep / 4);
      call_with_stack(stack_bytes{1 << 20}, [] { EXPECT_EQ(nest(k_deep), k_deep); });
    });
    group.wait();
    call_with_stack(stack_bytes{256 << 10}, [] { EXPECT_EQ(nest(k_deep / 4), k_deep / 4); });
  });
}

TEST_P(growing_groups, a_tree_in_one_group_is_whole_when_it_has_been_waited_for) {
  run_pool(GetParam(), [] {
    for (int round = 0; round < 20; ++round) {
      tree t;
      for (int use = 1; use <= 3; ++use) {
        t.visit(8);
        t.group.wait();
        EXPECT_EQ(t.nodes.load(), use * 511);
      }
    }
  });
}

struct refuses_copies {
  refuses_copies() = default;
  refuses_copies(const refuses_copies&) { throw std::domain_error("copied"); }
  void operator()() const {}
};

TEST(task_groups, after_a_body_that_could_not_be_copied_another_worker_may_use_the_group) {
  run_pool(2, [] {
    task_group group;
    std::atomic<bool> refused{false};
    task_group elsewhere;
    elsewhere.run([&] {
      const refuses_copies body;
      EXPECT_THROW(group.run(body), std::domain_error);
      refused = true;
    });
    while (!refused) std::this_thread::yield();  // this worker is occupied: the other one runs the task
    for (int round = 0; round < 100; ++round) {
      bool ran = false;
      group.run([&ran] { ran = true; });
      group.wait();
      ASSERT_TRUE(ran);
    }
  });
}

TEST_P(growing_groups, its_destructor_waits_for_all_of_them) {
  run_pool(GetParam(), [] {
    std::atomic<int> ended{0};
    for (int round = 1; round <= 50; ++round) {
      {
        task_group group;
        group.run([&] {
          for (int i = 0; i < 5; ++i)
            group.run([&] {
              group.run([&] { ++ended; });
              yield();
              ++ended;
            });
          ++ended;
        });
      }
      EXPECT_EQ(ended.load(), round * 11);
    }
  });
}

// The user waits for one task that has left its worker; what that one begins then is on the user's own worker, too.
TEST_P(growing_groups, tasks_begin_more_while_the_group_is_waited_for) {
  run_pool(GetParam(), [] {
    task_group group;
    task_group other;
    semaphore go(0);
    std::atomic<int> ended{0};
    constexpr int k_tasks = 100;
    for (int i = 0; i < k_tasks; ++i)
      group.run([&] {
        go.acquire();
        group.run([&] {
          yield();
          ++ended;
        });
        group.run(priority::low, [&] { ++ended; });
      });
    other.run([&] {
      for (int i = 0; i < 10; ++i) yield();
      go.release(k_tasks);
    });
    group.wait();
    EXPECT_EQ(ended.load(), 2 * k_tasks);
    other.wait();
  });
}

TEST_P(growing_groups, the_first_exception_of_any_generation_is_thrown_when_all_have_ended) {
  run_pool(GetParam(), [] {
    task_group group;
    std::atomic<int> ended{0};
    std::function<void(int)> grow = [&](int depth) {
      ++ended;
      if (depth == 0) throw std::runtime_error("a leaf");
      for (int i = 0; i < 3; ++i) group.run([&, depth] { grow(depth - 1); });
    };
    group.run([&] { grow(4); });
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_EQ(ended.load(), 1 + 3 + 9 + 27 + 81);
    EXPECT_NO_THROW(group.wait());
  });
}

}  // namespace
}  // namespace shoal::sched
