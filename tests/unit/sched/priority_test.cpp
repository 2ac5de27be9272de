// SPDX-License-Identifier: Apache-2.0
#include "shoal/priority.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/task.hpp"

namespace {

using shoal::priority;

void with_workers(unsigned workers, const std::function<void()>& main_task) {
  shoal::sched::pool_options options;
  options.workers = workers;
  options.most_stacks = 4096;
  shoal::sched::pool pool(options);
  pool.run(main_task);
}

// What began in which order. Locked for TSan's sake, which sees stacks where there is one thread.
class record {
public:
  void add(int number) {
    const std::lock_guard hold(guard_);
    numbers_.push_back(number);
  }
  std::vector<int> numbers() {
    const std::lock_guard hold(guard_);
    return numbers_;
  }

private:
  std::mutex guard_;
  std::vector<int> numbers_;
};

TEST(priority, decides_what_begins_first_on_one_worker) {
  with_workers(1, [] {
    record order;
    shoal::task_group group;
    group.run(priority::background, [&order] { order.add(40); });
    group.run(priority::low, [&order] { order.add(30); });
    group.run(priority::low, [&order] { order.add(31); });
    group.run(priority::high, [&order] { order.add(10); });
    group.run(priority::normal, [&order] { order.add(20); });
    group.run(priority::high, [&order] { order.add(11); });
    group.wait();
    EXPECT_EQ(order.numbers(), (std::vector<int>{10, 11, 20, 30, 31, 40}));
  });
}

TEST(priority, high_tasks_begin_inside_a_long_join) {
  with_workers(1, [] {
    record order;
    shoal::task_group urgent;
    shoal::task_group group;
    for (int i = 0; i < 4; ++i)
      group.run([&order, &urgent, i] {
        order.add(i);
        if (i == 3) urgent.run(priority::high, [&order] { order.add(100); });  // 3 begins first
      });
    group.wait();
    urgent.wait();
    EXPECT_EQ(order.numbers(), (std::vector<int>{3, 100, 2, 1, 0}));
  });
}

TEST(priority, high_tasks_begin_between_tasks_that_take_turns) {
  with_workers(1, [] {
    std::atomic<bool> done{false};
    shoal::task_group group;
    for (int i = 0; i < 3; ++i)
      group.run([&done] {
        while (!done.load()) shoal::yield();
      });
    group.run([&] {
      shoal::task_group urgent;
      urgent.run(priority::high, [&done] { done.store(true); });
      while (!done.load()) shoal::yield();
      urgent.wait();
    });
    group.wait();
    EXPECT_TRUE(done.load());
  });
}

TEST(priority, tasks_may_wait_and_throw) {
  for (const priority p : {priority::high, priority::low, priority::background})
    with_workers(2, [p] {
      shoal::task_group group;
      std::atomic<int> count{0};
      for (int i = 0; i < 100; ++i)
        group.run(p, [&count] {
          shoal::yield();
          ++count;
        });
      group.wait();
      EXPECT_EQ(count.load(), 100);
      group.run(p, [] { throw std::runtime_error("thrown with a priority"); });
      EXPECT_THROW(group.wait(), std::runtime_error);
    });
}

TEST(priority, a_sleeping_worker_wakes_for_each) {
  for (const priority p : {priority::high, priority::low, priority::background})
    with_workers(2, [p] {
      for (int round = 0; round < 20; ++round) {
        shoal::task_group group;
        std::atomic<bool> begun{false};
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other worker has gone to sleep
        group.run(p, [&begun] { begun.store(true); });
        // This worker never comes to its loop: only the other one can begin it.
        while (!begun.load()) std::this_thread::yield();
        group.wait();
      }
    });
}

TEST(priority, all_tasks_of_all_priorities_run_once_under_load) {
  with_workers(4, [] {
    std::atomic<std::uint64_t> sum{0};
    std::uint64_t expected = 0;
    shoal::task_group group;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      expected += i;
      group.run(static_cast<priority>(i % 4), [&sum, i] { sum += i; });
      if (i % 1000 == 999) shoal::yield();
    }
    group.wait();
    EXPECT_EQ(sum.load(), expected);
  });
}

}  // namespace
