// SPDX-License-Identifier: Apache-2.0
#include "shoal/sleep.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "shoal/parallel_for.hpp"
#include "shoal/stop_scope.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

class sleeping : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, sleeping, testing::Values(1U, 2U, 4U));

TEST_P(sleeping, is_never_shorter_than_asked_for) {
  run_pool(GetParam(), [] {
    for (const milliseconds span : {milliseconds(0), milliseconds(1), milliseconds(15)}) {
      const auto begun = steady_clock::now();
      shoal::sleep_for(span);
      EXPECT_GE(steady_clock::now() - begun, span);
      const auto until = steady_clock::now() + span;
      shoal::sleep_until(until);
      EXPECT_GE(steady_clock::now(), until);
    }
    shoal::sleep_for(milliseconds(-5));
    shoal::sleep_for(std::chrono::duration<double>(0.001));
    shoal::sleep_until(std::chrono::system_clock::now() + milliseconds(1));
  });
}

// All sleep at the same time: one after the other would take 20 s.
TEST_P(sleeping, tasks_let_their_worker_run_others) {
  run_pool(GetParam(), [] {
    const auto begun = steady_clock::now();
    std::atomic<int> woken{0};
    shoal::task_group group;
    for (int i = 0; i < 1000; ++i)
      group.run([&woken] {
        shoal::sleep_for(milliseconds(20));
        ++woken;
      });
    std::atomic<int> others{0};
    for (int i = 0; i < 100; ++i) group.run([&others] { ++others; });
    group.wait();
    EXPECT_EQ(woken, 1000);
    EXPECT_EQ(others, 100);
    EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(15));
  });
}

// All must sleep before the first time comes: the second try leaves more time for this.
TEST(sleeping, tasks_wake_in_the_order_of_their_times) {
  const auto in_order = [](milliseconds to_fall_asleep) {
    std::array<std::atomic<int>, 20> order{};
    std::atomic<std::size_t> woken{0};
    shoal::task_group group;
    shoal::latch all_run(21);
    steady_clock::time_point start;
    for (int i = 0; i < 20; ++i)
      group.run([&, i] {
        all_run.arrive_and_wait();
        shoal::sleep_until(start + milliseconds(7 * i % 20));
        order[woken++] = 7 * i % 20;
      });
    start = steady_clock::now() + to_fall_asleep;
    all_run.count_down();
    group.wait();
    EXPECT_EQ(woken, 20U);
    return std::is_sorted(order.begin(), order.end());
  };
  run_pool(1, [&] { EXPECT_TRUE(in_order(milliseconds(100)) || in_order(milliseconds(2000))); });
}

TEST_P(sleeping, works_in_iterations_of_loops_and_beside_a_busy_worker) {
  run_pool(GetParam(), [] {
    std::atomic<int> ended{0};
    shoal::parallel_for(200, [&ended](int) {
      shoal::sleep_for(milliseconds(2));
      ++ended;
    });
    EXPECT_EQ(ended, 200);
    std::atomic<bool> over{false};
    shoal::task_group group;
    group.run([&over] {
      shoal::sleep_for(milliseconds(10));
      over = true;
    });
    while (!over) shoal::yield();
    group.wait();
  });
}

TEST_P(sleeping, in_a_scope_ends_with_a_request) {
  run_pool(GetParam(), [] {
    EXPECT_TRUE(shoal::sleep_for(milliseconds(1), shoal::in_scope)) << "this task is in no scope";
    shoal::stop_scope scope;
    std::atomic<int> whole{0};
    std::atomic<int> early{0};
    shoal::latch begun(65);
    shoal::task_group group;
    scope.run([&] {
      EXPECT_TRUE(shoal::sleep_for(milliseconds(1), shoal::in_scope));
      for (int i = 0; i < 64; ++i)
        group.run([&, i] {
          begun.count_down();
          const bool slept = i % 2 == 0 ? shoal::sleep_for(std::chrono::hours(1), shoal::in_scope)
                                        : shoal::sleep_until(steady_clock::time_point::max(), scope.get_token());
          ++(slept ? whole : early);
        });
    });
    begun.arrive_and_wait();
    scope.request_stop();
    group.wait();
    EXPECT_EQ(whole, 0);
    EXPECT_EQ(early, 64);
    scope.run(
        [] { EXPECT_FALSE(shoal::sleep_for(std::chrono::hours(1), shoal::in_scope)) << "it was stopped before"; });
  });
}

// The worker that made the scope computes all the time, so its timer does not help.
TEST(sleeping, in_a_scope_ends_with_its_limit_on_any_worker) {
  run_pool(2, [] {
    std::atomic<bool> over{false};
    shoal::stop_scope scope(milliseconds(20));
    shoal::task_group group;
    scope.run([&] {
      group.run([&over] {
        const shoal::stop_scope inner(std::chrono::hours(2));
        EXPECT_FALSE(shoal::sleep_for(std::chrono::hours(1), shoal::in_scope));
        over = true;
      });
    });
    while (!over) {
    }
    group.wait();
    EXPECT_TRUE(scope.timed_out());
  });
}

TEST(sleeping, ends_with_a_token_of_a_thread) {
  run_pool(2, [] {
    std::stop_source source;
    std::thread thread([&source] { source.request_stop(); });
    EXPECT_FALSE(shoal::sleep_for(std::chrono::hours(1), source.get_token()));
    EXPECT_TRUE(shoal::sleep_for(milliseconds(1), std::stop_token()));
    thread.join();
  });
}

TEST(sleeping, movable_tasks_stay_on_their_worker) {
  run_pool(2, [] {
    shoal::task_group group;
    for (int i = 0; i < 50; ++i)
      group.run(shoal::movable, [] {
        const unsigned before = shoal::detail::worker_here().index;
        shoal::sleep_for(milliseconds(1));
        EXPECT_EQ(shoal::detail::worker_here().index, before);
      });
    group.wait();
  });
}

}  // namespace
