// SPDX-License-Identifier: Apache-2.0
// Whole pools on virtual time: no wait of the scheduler goes past the executor, and a schedule follows from a seed.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "sched/pool.hpp"
#include "shoal/profile.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/machine/virtual_executor.hpp"

namespace shoal::sched {
namespace {

constexpr std::uint64_t k_s = 1'000'000'000;
constexpr std::uint64_t k_hour = 3'600 * k_s;

pool_options on(machine::executor& by, unsigned workers) {
  pool_options options;
  options.workers = workers;
  options.most_stacks = std::size_t{1} << 14;
  options.executor = &by;
  return options;
}

// Blocks the calling worker.
void block_for(machine::executor& by, std::uint64_t ns) {
  std::atomic<std::uint32_t> never{0};
  by.wait(never, 0, static_cast<std::int64_t>(ns), false);
}

int fib_with_waits(int n) {
  if (n < 2) {
    yield();
    return n;
  }
  int less = 0;
  task_group group;
  group.run([&less, n] { less = fib_with_waits(n - 1); });
  const int least = fib_with_waits(n - 2);
  group.wait();
  return less + least;
}

TEST(pool_on_virtual_time, computes_the_same_in_every_schedule) {
  std::set<std::uint64_t> schedules;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    machine::virtual_executor by(seed, k_hour);
    int got = 0;
    by.run([&] {
      pool p(on(by, 4));
      p.run([&] {
        for (int round = 0; round < 3; ++round) {
          block_for(by, k_s);  // the others park
          got += fib_with_waits(10);
        }
      });
    });
    EXPECT_EQ(got, 3 * 55) << "seed " << seed;
    schedules.insert(by.schedule());
  }
  EXPECT_GT(schedules.size(), 15U);
}

// Who runs when beside children that run inline, whatever real time they take.
std::vector<int> turns_beside_children(bool slow) {
  machine::virtual_executor by(7);
  std::vector<int> turns;
  std::mutex guard;  // the tasks are ordered by time only
  const auto note = [&](int turn) {
    const std::lock_guard hold(guard);
    turns.push_back(turn);
  };
  by.run([&] {
    pool p(on(by, 1));
    p.run([&] {
      task_group beside, children;
      semaphore go(0);
      beside.run([&] {
        go.acquire();
        for (int i = 0; i < 20; ++i) {
          note(-1);
          yield();
        }
      });
      yield();
      go.release();
      for (int i = 0; i < 2000; ++i)
        children.run([&note, slow, i] {
          note(i);
          for (const std::uint64_t end = base::now_ns() + 20'000; slow && i % 8 == 0 && base::now_ns() < end;) continue;
        });
      children.wait();
      beside.wait();
    });
  });
  return turns;
}

TEST(pool_on_virtual_time, the_progress_budget_does_not_see_the_real_clock) {
  EXPECT_EQ(turns_beside_children(false), turns_beside_children(true));
}

TEST(pool_on_virtual_time, submitted_tasks_wake_workers_that_slept_for_an_hour) {
  machine::virtual_executor by(5);
  struct counted_errand final : errand {
    std::atomic<int>* ran = nullptr;
  };
  std::atomic<int> ran{0};
  by.run([&] {
    pool p(on(by, 3));
    p.start();
    std::vector<counted_errand> all(8);
    for (counted_errand& one : all) {
      block_for(by, k_hour);
      one.ran = &ran;
      one.run = [](detail::task& t) noexcept {
        static_cast<counted_errand&>(static_cast<errand&>(t)).ran->fetch_add(1);
      };
      p.submit(one);
    }
    block_for(by, k_s);
    EXPECT_EQ(ran.load(), 8);
    p.finish();
  });
  EXPECT_GE(by.now_ns(), 8 * k_hour);
}

TEST(pool_on_virtual_time, a_profile_samples_each_minute_of_an_hour) {
  machine::virtual_executor by(9);
  std::size_t samples = 0;
  by.run([&] {
    pool p(on(by, 2));
    p.run([&] {
      profile_options options;
      options.interval_seconds = 60;
      profile_span span = begin_profile(options);
      block_for(by, k_hour + 30 * k_s);
      samples = span.end().running.size();
    });
  });
  EXPECT_EQ(samples, 60U);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(pool_on_virtual_time_death_test, a_task_that_nobody_wakes_is_a_deadlock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        machine::virtual_executor by;
        by.run([&by] {
          pool p(on(by, 2));
          p.run([] { detail::leave(); });
        });
      },
      "deadlock: all sleep without a limit; first sleeps without a limit shoal-w1 sleeps without a limit");
}
#endif

}  // namespace
}  // namespace shoal::sched
