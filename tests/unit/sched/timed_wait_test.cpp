// SPDX-License-Identifier: Apache-2.0
// Waits with a limit: the limit comes first, the event comes first, and what the object is like afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "shoal/barrier.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/shared_mutex.hpp"
#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_flow.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds k_short(3);
constexpr seconds k_long(60);

class timed : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, timed, testing::Values(1U, 2U, 4U));

TEST_P(timed, a_mutex_is_free_for_others_after_a_wait_in_vain) {
  run_pool(GetParam(), [] {
    shoal::mutex m;
    m.lock();
    shoal::task_group group;
    std::atomic<int> refused{0};
    std::atomic<int> entered{0};
    for (int i = 0; i < 5; ++i) {
      group.run([&] { refused += m.try_lock_for(k_short) ? 0 : 1; });
      group.run([&] {
        const std::lock_guard hold(m);  // between those that give up
        ++entered;
      });
      group.run([&] {
        ASSERT_TRUE(m.try_lock_until(steady_clock::now() + k_long));
        ++entered;
        m.unlock();
      });
    }
    while (refused < 5) shoal::yield();
    EXPECT_FALSE(m.try_lock_for(milliseconds(0)));
    m.unlock();
    group.wait();
    EXPECT_EQ(entered, 10);
    EXPECT_TRUE(m.try_lock_for(milliseconds(0)));
    m.unlock();
  });
}

TEST_P(timed, a_condition_variable_tells_a_notification_from_the_limit) {
  run_pool(GetParam(), [] {
    shoal::mutex m;
    shoal::condition_variable changed;
    bool ready = false;
    {
      std::unique_lock hold(m);
      EXPECT_EQ(changed.wait_for(hold, k_short), std::cv_status::timeout);
      EXPECT_TRUE(hold.owns_lock());
      EXPECT_FALSE(changed.wait_for(hold, k_short, [&] { return ready; }));
      EXPECT_FALSE(changed.wait_until(hold, steady_clock::now() + k_short, [&] { return ready; }));
    }
    shoal::task_group group;
    group.run([&] {
      shoal::sleep_for(k_short);
      const std::lock_guard hold(m);
      ready = true;
      changed.notify_all();
    });
    std::unique_lock hold(m);
    EXPECT_TRUE(changed.wait_for(hold, k_long, [&] { return ready; }));
    hold.unlock();
    group.wait();
  });
}

TEST_P(timed, a_semaphore_loses_no_count) {
  run_pool(GetParam(), [] {
    shoal::semaphore places(0);
    EXPECT_FALSE(places.try_acquire_for(k_short));
    shoal::task_group group;
    std::atomic<int> taken{0};
    for (int i = 0; i < 20; ++i)
      group.run([&, i] {
        if (i % 2 == 0 ? places.try_acquire_for(k_short) : places.try_acquire_until(steady_clock::now() + k_long))
          ++taken;
      });
    shoal::sleep_for(4 * k_short);
    places.release(20);
    group.wait();
    int left = 0;
    while (places.try_acquire()) ++left;
    EXPECT_EQ(taken + left, 20);
    EXPECT_GE(taken, 10);
  });
}

TEST_P(timed, latches_and_barriers_open_for_those_that_still_wait) {
  run_pool(GetParam(), [] {
    shoal::latch opens(1);
    EXPECT_FALSE(opens.wait_for(k_short));
    shoal::barrier meet(2);
    const auto phase = meet.arrive();
    EXPECT_FALSE(meet.wait_for(phase, k_short));
    shoal::task_group group;
    group.run([&] {
      shoal::sleep_for(k_short);
      opens.count_down();
      meet.arrive_and_wait();
    });
    EXPECT_TRUE(opens.wait_for(k_long));
    EXPECT_TRUE(meet.wait_until(phase, steady_clock::now() + k_long));
    EXPECT_TRUE(opens.wait_for(milliseconds(0)));
    group.wait();
  });
}

TEST_P(timed, a_future_can_be_waited_for_again) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    auto slow = shoal::async([&] {
      go.wait();
      return 7;
    });
    EXPECT_FALSE(slow.wait_for(k_short));
    EXPECT_FALSE(slow.wait_until(steady_clock::now() - k_short));
    shoal::promise<int> answer;
    auto later = answer.get_future();
    EXPECT_FALSE(later.wait_for(k_short));
    std::vector<shoal::future<int>> both;
    both.push_back(std::move(slow));
    both.push_back(std::move(later));
    auto all = shoal::when_all(std::move(both));
    EXPECT_FALSE(all.wait_for(k_short));
    std::thread from_outside([&] {
      std::this_thread::sleep_for(k_short);
      answer.set_value(8);
    });
    go.count_down();
    EXPECT_TRUE(all.wait_for(k_long));
    EXPECT_EQ(all.get(), (std::vector<int>{7, 8}));
    from_outside.join();
  });
}

TEST_P(timed, a_group_can_be_waited_for_again_and_used_meanwhile) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    std::atomic<int> ended{0};
    shoal::task_group group;
    for (int i = 0; i < 10; ++i)
      group.run([&] {
        go.wait();
        group.run([&] { ++ended; });  // of a task of the group, during either wait
        ++ended;
      });
    EXPECT_FALSE(group.wait_for(k_short));
    group.run([&] { ++ended; });
    EXPECT_FALSE(group.wait_for(milliseconds(0)));
    go.count_down();
    EXPECT_TRUE(group.wait_for(k_long));
    EXPECT_EQ(ended, 21);
    EXPECT_TRUE(group.wait_for(milliseconds(0)));
    group.run([] { throw std::runtime_error("the last one"); });
    EXPECT_THROW(group.wait_for(k_long), std::runtime_error);
    group.run([&] { ++ended; });
    group.wait();
    EXPECT_EQ(ended, 22);
  });
}

TEST_P(timed, a_flow_can_be_waited_for_again_and_given_more_meanwhile) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    int order = 0;
    shoal::task_flow flow(64);
    EXPECT_TRUE(flow.wait_for(milliseconds(0))) << "there is nothing to wait for";
    flow.run(shoal::inout(order), [&] {
      go.wait();
      order = 1;
    });
    for (int i = 1; i < 10; ++i) flow.run(shoal::inout(order), [&order, i] { order += order == i ? 1 : 100; });
    EXPECT_FALSE(flow.wait_for(k_short));
    EXPECT_FALSE(flow.wait_until(steady_clock::now() - k_short));
    flow.run(shoal::inout(order), [&order] { order += order == 10 ? 1 : 100; });
    EXPECT_FALSE(flow.wait_for(milliseconds(0)));
    go.count_down();
    EXPECT_TRUE(flow.wait_for(k_long));
    EXPECT_EQ(order, 11);
    for (int i = 0; i < 200; ++i) flow.run(shoal::inout(order), [&order] { ++order; });  // more than may be unfinished
    while (!flow.wait_until(steady_clock::now() + k_short)) {
    }
    EXPECT_EQ(order, 211);
  });
}

TEST_P(timed, a_flow_throws_once_all_have_ended_and_not_at_the_limit) {
  run_pool(GetParam(), [] {
    shoal::latch go(1);
    std::atomic<bool> waits{false};
    std::atomic<bool> thrown{false};
    std::atomic<int> dropped{0};
    int value = 0;
    shoal::task_flow flow;
    flow.run([&] {
      waits = true;
      go.wait();
    });
    while (!waits) shoal::yield();  // or it would be dropped
    flow.run(shoal::inout(value), [&] {
      thrown = true;
      throw std::runtime_error("the second one");
    });
    flow.run(shoal::inout(value), [&] { ++dropped; });
    while (!thrown) shoal::yield();
    EXPECT_FALSE(flow.wait_for(k_short));
    flow.run(shoal::inout(value), [&] { ++dropped; });
    EXPECT_FALSE(flow.wait_for(milliseconds(0)));
    go.count_down();
    EXPECT_THROW(flow.wait_for(k_long), std::runtime_error);
    EXPECT_EQ(dropped, 0);
    flow.run(shoal::inout(value), [&] { ++value; });
    EXPECT_TRUE(flow.wait_for(k_long));
    EXPECT_EQ(value, 1);
  });
}

TEST_P(timed, only_the_user_of_a_flow_waits_for_it) {
  run_pool(GetParam(), [] {
    shoal::task_flow flow;
    std::atomic<int> refused{0};
    const auto tries = [&] {
      try {
        flow.wait_for(k_short);
      } catch (const shoal::error&) {
        ++refused;
      }
    };
    flow.run(tries);
    EXPECT_TRUE(flow.wait_for(k_long));
    flow.run(tries);
    flow.wait();
    EXPECT_EQ(refused, 2);
  });
}

TEST(timed_waits, moments_at_the_ends_of_a_clock) {
  run_pool(1, [] {
    shoal::sleep_until(steady_clock::time_point::min());
    shoal::sleep_until(std::chrono::system_clock::time_point::min());
    shoal::latch go(1);
    shoal::future<void> first = shoal::async([&] { go.wait(); });
    shoal::future<void> second = shoal::async([&] { go.wait(); });
    EXPECT_FALSE(first.wait_until(std::chrono::sys_seconds::min()));
    go.count_down();  // both still have to go on, on this worker
    EXPECT_TRUE(first.wait_until(std::chrono::sys_seconds::max()));
    EXPECT_TRUE(second.wait_until(steady_clock::time_point::max()));
  });
}

// What the loops wait for is done by tasks that can only run while these wait.
TEST(timed_waits, of_no_time_let_others_run) {
  run_pool(1, [] {
    constexpr milliseconds k_none(0);
    shoal::task_group group;
    group.run([] {});
    while (!group.wait_for(k_none)) {
    }
    shoal::future<int> result = shoal::async([] { return 3; });
    while (!result.wait_for(k_none)) {
    }
    int written = 0;
    shoal::task_flow flow;
    flow.run(shoal::inout(written), [&] { written = 1; });
    while (!flow.wait_for(k_none)) {
    }
    std::atomic<bool> held = false;
    shoal::mutex m;
    shoal::shared_mutex s;
    shoal::semaphore none(0);
    group.run([&] {
      m.lock();
      s.lock();
      held = true;
      shoal::yield();
      m.unlock();
      shoal::yield();
      s.unlock();
      shoal::yield();
      none.release();
    });
    while (!held) shoal::sleep_for(k_none);
    while (!m.try_lock_for(k_none)) {
    }
    while (!s.try_lock_shared_for(k_none)) {
    }
    while (!none.try_acquire_for(k_none)) {
    }
    std::atomic<bool> ready = false;
    shoal::condition_variable changed;
    group.run([&] { ready = true; });
    std::unique_lock hold(m, std::adopt_lock);
    while (!ready) static_cast<void>(changed.wait_for(hold, k_none));
    s.unlock_shared();
    group.wait();
  });
}

// Neither the limit nor the event is always first.
TEST_P(timed, limits_race_with_events) {
  run_pool(GetParam(), [] {
    int in_time = 0;
    constexpr int k_races = shoal::rounds(300, 60);
    for (int i = 0; i < k_races; ++i) {
      const auto end = steady_clock::now() + std::chrono::microseconds(100);
      shoal::latch opens(1);
      shoal::semaphore places(0);
      shoal::task_group group;
      group.run([&] {
        shoal::sleep_until(end);
        places.release();
        opens.count_down();
      });
      shoal::task_flow flow;
      flow.run([end] { shoal::sleep_until(end); });
      auto result = shoal::async([end] { shoal::sleep_until(end); });
      const bool taken = places.try_acquire_until(end);
      in_time += result.wait_until(end + std::chrono::microseconds(i)) ? 1 : 0;
      opens.wait_until(end + std::chrono::microseconds(20));
      while (!group.wait_until(steady_clock::now() + std::chrono::microseconds(20))) {
      }
      while (!flow.wait_until(steady_clock::now() + std::chrono::microseconds(20))) {
      }
      EXPECT_EQ(places.try_acquire(), !taken);
      result.get();
    }
    EXPECT_LE(in_time, k_races);
  });
}

}  // namespace
