// SPDX-License-Identifier: Apache-2.0
#include "shoal/sync.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/stack_bytes.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;

class sync : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, sync, testing::Values(1U, 2U, 4U));

TEST_P(sync, a_mutex_excludes_also_over_waits) {
  run_pool(GetParam(), [] {
    shoal::mutex m;
    int inside = 0;
    std::uint64_t counter = 0;
    shoal::task_group group;
    for (int i = 0; i < 50; ++i)
      group.run([&] {
        for (int k = 0; k < 40; ++k) {
          const std::lock_guard hold(m);
          ASSERT_EQ(inside++, 0);
          const std::uint64_t seen = counter;
          if (k % 4 == 0) shoal::yield();
          counter = seen + 1;
          --inside;
        }
      });
    group.wait();
    EXPECT_EQ(counter, 50U * 40);
  });
}

TEST(mutex, try_lock_says_whether_it_is_free_and_unlock_hands_it_to_the_longest_waiter) {
  run_pool(1, [] {
    shoal::mutex m;
    std::vector<int> order;
    m.lock();
    EXPECT_FALSE(m.try_lock());
    shoal::task_group group;
    std::atomic<int> waiting{0};
    for (int i = 0; i < 5; ++i) {
      group.run([&, i] {
        ++waiting;
        const std::lock_guard hold(m);
        order.push_back(i);
      });
      while (waiting.load() == i) shoal::yield();
    }
    m.unlock();
    EXPECT_FALSE(m.try_lock());  // it belongs to the first waiter already
    group.wait();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(mutex, unlocked_by_a_task_that_does_not_hold_it_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::mutex m;
                          m.unlock();
                        }),
               "a mutex is unlocked that no task holds");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::mutex m;
                          shoal::semaphore held(0);
                          auto holder = shoal::async([&] {
                            m.lock();
                            held.release();
                            shoal::yield();
                            shoal::yield();
                          });
                          held.acquire();
                          m.unlock();
                        }),
               "a mutex is unlocked that another task holds");
}

TEST(mutex, locked_on_a_stack_of_another_size_is_held_by_the_same_task) {
  run_pool(1, [] {
    shoal::mutex m;
    shoal::call_with_stack(shoal::stack_bytes(1 << 20), [&m] { m.lock(); });
    EXPECT_FALSE(m.try_lock());
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    shoal::call_with_stack(shoal::stack_bytes(1 << 20), [&m] { m.unlock(); });
  });
}

TEST_P(sync, producers_and_consumers_meet_at_a_condition_variable) {
  run_pool(GetParam(), [] {
    shoal::mutex m;
    shoal::condition_variable not_empty;
    shoal::condition_variable not_full;
    std::deque<int> queue;
    std::atomic<std::uint64_t> sum{0};
    constexpr int k_each = 300;
    shoal::task_group group;
    for (int p = 0; p < 4; ++p)
      group.run([&] {
        for (int i = 1; i <= k_each; ++i) {
          std::unique_lock lock(m);
          not_full.wait(lock, [&] { return queue.size() < 5; });
          queue.push_back(i);
          not_empty.notify_one();
        }
      });
    for (int c = 0; c < 3; ++c)
      group.run([&] {
        for (int i = 0; i < 4 * k_each / 3; ++i) {
          std::unique_lock lock(m);
          not_empty.wait(lock, [&] { return !queue.empty(); });
          sum.fetch_add(static_cast<std::uint64_t>(queue.front()));
          queue.pop_front();
          not_full.notify_one();
        }
      });
    group.wait();
    EXPECT_EQ(sum.load(), 4U * k_each * (k_each + 1) / 2);
    EXPECT_TRUE(queue.empty());
  });
}

TEST_P(sync, notify_all_wakes_all_that_wait_and_nobody_later) {
  run_pool(GetParam(), [] {
    shoal::mutex m;
    shoal::condition_variable c;
    int waiting = 0;
    std::atomic<int> woken{0};
    shoal::task_group group;
    for (int i = 0; i < 100; ++i)
      group.run([&] {
        std::unique_lock lock(m);
        ++waiting;
        c.wait(lock);
        woken.fetch_add(1);
      });
    for (bool all = false; !all;) {
      shoal::yield();
      const std::lock_guard hold(m);
      all = waiting == 100;
    }
    EXPECT_EQ(woken.load(), 0);
    c.notify_all();
    group.wait();
    EXPECT_EQ(woken.load(), 100);
  });
}

TEST_P(sync, a_semaphore_admits_as_many_as_it_holds) {
  run_pool(GetParam(), [] {
    shoal::semaphore s(3);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    shoal::task_group group;
    for (int i = 0; i < 200; ++i)
      group.run([&] {
        s.acquire();
        const int now = inside.fetch_add(1) + 1;
        for (int seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        shoal::yield();
        inside.fetch_sub(1);
        s.release();
      });
    group.wait();
    EXPECT_LE(most.load(), 3);
    EXPECT_GE(most.load(), 1);
    EXPECT_TRUE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
  });
}

TEST_P(sync, release_of_many_wakes_many) {
  run_pool(GetParam(), [] {
    shoal::semaphore s(0);
    std::atomic<int> through{0};
    shoal::task_group group;
    for (int i = 0; i < 10; ++i) group.run([&] { s.acquire(), through.fetch_add(1); });
    for (int k = 0; k < 20; ++k) shoal::yield();
    EXPECT_EQ(through.load(), 0);
    s.release(10);
    group.wait();
    EXPECT_EQ(through.load(), 10);
    EXPECT_FALSE(s.try_acquire());
  });
}

TEST_P(sync, a_latch_opens_once_for_all) {
  run_pool(GetParam(), [] {
    for (int round = 0; round < 50; ++round) {
      shoal::latch ready(20);
      std::atomic<int> before{0};
      std::atomic<int> early{0};
      shoal::task_group group;
      for (int i = 0; i < 20; ++i)
        group.run([&] {
          before.fetch_add(1);
          ready.arrive_and_wait();
          if (before.load() != 20) early.fetch_add(1);
        });
      ready.wait();
      EXPECT_TRUE(ready.try_wait());
      group.wait();
      EXPECT_EQ(early.load(), 0);
    }
  });
}

// Whoever has waited at a latch may destroy it at once, although others have only just arrived.
TEST(latch, may_go_when_one_that_waited_returns) {
  run_pool(2, [] {
    for (int round = 0; round < 20000; ++round) {
      alignas(shoal::latch) unsigned char place[sizeof(shoal::latch)];
      auto* const ready = ::new (place) shoal::latch(1);
      std::atomic<bool> begun{false};
      shoal::task_group group;
      group.run([ready, &begun] {
        begun.store(true);
        ready->arrive_and_wait();
      });
      while (!begun.load()) std::this_thread::yield();  // the other worker takes it
      while (!ready->try_wait()) {                      // at the same lock, as fast as it goes
      }
      ready->~latch();
      for (volatile unsigned char& byte : place) byte = 0xff;  // as a lock it would be held for ever
      group.wait();
    }
  });
}

TEST(semaphore, release_of_more_than_wait_keeps_the_rest) {
  run_pool(1, [] {
    shoal::semaphore s(0);
    std::atomic<int> order{0};  // of those that went through, a digit each
    shoal::task_group group;
    for (int i = 1; i <= 3; ++i) {
      group.run([&, i] { s.acquire(), order.store(order.load() * 10 + i); });
      shoal::yield();
    }
    s.release(2);
    s.release(0);
    for (int k = 0; k < 5; ++k) shoal::yield();
    EXPECT_EQ(order.load(), 12);
    s.release(3);
    group.wait();
    EXPECT_EQ(order.load(), 123);
    EXPECT_TRUE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
  });
}

#if defined(SHOAL_CHECKED) && !SHOAL_TSAN && !SHOAL_ASAN
TEST(no_wait_death_test, a_wait_inside_the_scope_is_stopped_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          const shoal::no_wait scope;
                          shoal::yield();
                        }),
               "a task waits inside a no_wait scope");
}

TEST(mutex_death_test, destroyed_while_held) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::mutex m;
                          m.lock();
                        }),
               "a mutex is destroyed while a task holds it");
}

TEST(semaphore_death_test, destroyed_while_a_task_waits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::task_group group;
                          shoal::semaphore s(0);
                          group.run([&s] { s.acquire(); });
                          for (int k = 0; k < 5; ++k) shoal::yield();
                        }),
               "destroyed while a task waits");
}
#endif

TEST(no_wait, allows_what_does_not_wait) {
  run_pool(1, [] {
    {
      const shoal::no_wait scope;
      shoal::mutex m;
      const std::lock_guard hold(m);
      shoal::poll();
    }
    shoal::yield();
  });
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(sync_death_test, counts_below_zero_are_reported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const k_latch = "a latch is counted down below zero";
  EXPECT_DEATH(shoal::latch(1).count_down(2), k_latch);
  EXPECT_DEATH(shoal::latch(1).count_down(-1), k_latch);
  EXPECT_DEATH(shoal::latch(1).arrive_and_wait(2), k_latch);
  EXPECT_DEATH(shoal::latch(-1), "expects zero or more");
  EXPECT_DEATH(shoal::semaphore(-1), "count of zero or more");
  EXPECT_DEATH(shoal::semaphore(1).release(-1), "zero times or more");
}

TEST(no_wait_death_test, on_a_thread_that_is_no_task) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(shoal::no_wait(), "call it from a task, inside shoal::pool::run or submit, or shoal::run");
}
#endif

}  // namespace
