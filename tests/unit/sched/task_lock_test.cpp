// SPDX-License-Identifier: Apache-2.0
#include "shoal/task_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "shoal/locks.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

// Tasks take the lock again and again, and some wait while they hold it.
template <class Lock>
void crowd(Lock& lock, unsigned tasks, int rounds) {
  long count = 0;
  bool inside = false;
  bool good = true;
  task_group group;
  for (unsigned t = 0; t < tasks; ++t)
    group.run([&, t] {
      for (int i = 0; i < rounds; ++i) {
        if (i % 5 == 4) {
          while (!lock.try_lock()) yield();
        } else {
          lock.lock(t % 3);
        }
        good = good && !inside;
        inside = true;
        ++count;
        if (i % 7 == 0) yield();
        inside = false;
        lock.unlock();
        if (i % 3 == 0) yield();
      }
    });
  group.wait();
  EXPECT_TRUE(good);
  EXPECT_EQ(count, static_cast<long>(tasks) * rounds);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

template <class Lock>
class locks_of_tasks : public testing::Test {};
using kinds =
    testing::Types<tas_lock<task_wait>, ticket_lock<task_wait>, priority_lock<task_wait>, mcs_lock<task_wait>,
                   clh_lock<task_wait>, hierarchical_lock<task_wait>, bounded_lock<task_wait>, message_lock<task_wait>>;
TYPED_TEST_SUITE(locks_of_tasks, kinds);

TYPED_TEST(locks_of_tasks, exclude) {
  for (const unsigned workers : {1U, 3U})
    run_pool(workers, [] {
      TypeParam lock;
      crowd(lock, 40, 50);
    });
}

TYPED_TEST(locks_of_tasks, exclude_behind_a_switch) {
  for (const unsigned workers : {1U, 3U})
    for (const unsigned bound : {0U, 3U, 64U})
      run_pool(workers, [bound] {
        task_lock<TypeParam> lock(bound);
        crowd(lock, 40, 30);
      });
}

TEST(clh_lock_of_tasks, more_tasks_than_nodes_on_one_worker) {
  run_pool(1, [] {
    clh_lock<task_wait> lock(2);
    crowd(lock, 20, 20);
  });
}

// Counts how often it is asked.
struct counted {
  explicit counted(int& asked) : times(asked) {}
  void lock(unsigned) {
    ++times;
    mine.lock();
  }
  bool try_lock() { return mine.try_lock(); }
  void unlock() { mine.unlock(); }
  int& times;
  mcs_lock<task_wait> mine;
};

// One holds it while the others come; then it goes round.
int asked_for(unsigned tasks, unsigned bound) {
  int asked = 0;
  run_pool(1, [&] {
    task_lock<counted> lock(bound, asked);
    std::vector<unsigned> order;
    lock.lock();
    task_group group;
    std::atomic<unsigned> came{0};
    for (unsigned t = 0; t < tasks; ++t)
      group.run([&] {
        const unsigned mine = came++;
        const std::lock_guard guard(lock);
        order.push_back(mine);
      });
    while (came < tasks) yield();
    lock.unlock();
    group.wait();
    EXPECT_EQ(order.size(), tasks);
    for (unsigned i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  });
  return asked;
}

TEST(task_lock, tasks_of_a_worker_hand_over_without_asking) {
  EXPECT_EQ(asked_for(50, 1000), 1);
  EXPECT_EQ(asked_for(50, 0), 51);
  EXPECT_EQ(asked_for(50, 9), 1 + 5);  // after nine hand-overs the tenth asks
}

// The guard gives the lock back while an exception is on its way, and so switches to a task that throws as well.
TEST(task_lock, is_handed_over_while_exceptions_fly) {
  for (const unsigned workers : {1U, 2U})
    run_pool(workers, [] {
      task_lock<> lock;
      long count = 0;
      std::atomic<int> caught{0};
      task_group group;
      for (int t = 0; t < 40; ++t)
        group.run([&, t] {
          for (int i = 0; i < 20; ++i) try {
              const std::lock_guard guard(lock);
              ++count;
              yield();
              throw 100 * t + i;
            } catch (int e) {
              if (e == 100 * t + i && std::uncaught_exceptions() == 0) ++caught;
            }
        });
      group.wait();
      EXPECT_EQ(count, 800);
      EXPECT_EQ(caught, 800);
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
    });
}

// What is guarded may go, with its lock, as soon as the last of its tasks has given it back.
TEST(task_lock, ends_with_the_last_task_that_uses_it) {
  run_pool(3, [] {
    for (int i = 0; i < 200; ++i) {
      task_lock<bounded_lock<task_wait>> lock(static_cast<unsigned>(i % 4));
      long count = 0;
      task_group group;
      for (int t = 0; t < 8; ++t)
        group.run([&] {
          const std::lock_guard guard(lock);
          ++count;
        });
      group.wait();
      EXPECT_EQ(count, 8);
    }
  });
}

TEST(task_lock, whoever_is_handed_the_lock_goes_on_at_once) {
  run_pool(1, [] {
    task_lock<> lock;
    std::atomic<unsigned> now{0};
    std::atomic<unsigned> got{0};
    std::atomic<unsigned> gave{0};
    lock.lock();
    task_group group;
    for (int i = 0; i < 5; ++i)
      group.run([&] {
        for (int k = 0; k < 20; ++k) yield();  // ready all the time
        ++now;
      });
    group.run([&] {
      lock.lock();
      got = ++now;
      lock.unlock();
    });
    for (int k = 0; k < 5; ++k) yield();
    lock.unlock();
    gave = ++now;
    group.wait();
    EXPECT_EQ(now, 7U);
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(gave, 2U);
  });
}

}  // namespace
}  // namespace shoal::sched
