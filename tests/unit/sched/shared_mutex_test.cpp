// SPDX-License-Identifier: Apache-2.0
#include "shoal/shared_mutex.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>

#include "shoal/random.hpp"
#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;
using std::chrono::milliseconds;

class sharing : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, sharing, testing::Values(1U, 2U, 4U));

TEST_P(sharing, readers_meet_each_other_and_no_writer) {
  run_pool(GetParam(), [] {
    shoal::shared_mutex m;
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    std::atomic<int> most{0};
    std::uint64_t value = 0;
    shoal::task_group group;
    for (int t = 0; t < 40; ++t)
      group.run([&, t] {
        shoal::xoshiro256ss dice(static_cast<std::uint64_t>(t));
        for (int i = 0; i < shoal::rounds(200, 50); ++i) {
          if (dice.below(5) == 0) {
            const std::unique_lock hold(m);
            ASSERT_EQ(writers++, 0);
            ASSERT_EQ(readers, 0);
            const std::uint64_t seen = value;
            if (dice.below(2) == 0) shoal::yield();
            value = seen + 1;
            --writers;
          } else {
            const std::shared_lock hold(m);
            most = std::max(most.load(), ++readers);
            ASSERT_EQ(writers, 0);
            if (dice.below(2) == 0) shoal::yield();
            --readers;
          }
        }
      });
    group.wait();
    EXPECT_GT(most, 1);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(sharing, the_queue_is_served_in_order) {
  run_pool(1, [] {
    shoal::shared_mutex m;
    std::array<std::atomic<int>, 5> order{};
    std::atomic<std::size_t> ended{0};
    shoal::task_group group;
    m.lock_shared();
    std::atomic<int> begun{0};
    const auto reads = [&](int i) {
      return [&, i] {
        ++begun;
        const std::shared_lock hold(m);
        order[ended++] = i;
        shoal::yield();
      };
    };
    const auto writes = [&](int i) {
      return [&, i] {
        ++begun;
        const std::unique_lock hold(m);
        order[ended++] = i;
        shoal::yield();
      };
    };
    const auto next = [&](auto body) {
      const int before = begun;
      group.run(body);
      while (begun == before) shoal::yield();
    };
    EXPECT_TRUE(m.try_lock_shared());  // readers join readers
    m.unlock_shared();
    next(writes(1));
    EXPECT_FALSE(m.try_lock_shared());  // but not past a writer
    next(reads(2));
    next(reads(3));
    next(writes(4));
    next(reads(5));
    m.unlock_shared();
    group.wait();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i + 1);
  });
}

TEST(sharing, few_overtake_a_task_that_has_been_woken) {
  run_pool(1, [] {
    shoal::shared_mutex m;
    for (const bool shared : {false, true}) {
      m.lock();
      std::atomic<bool> got{false};
      shoal::task_group group;
      group.run([&] {
        shared ? m.lock_shared() : m.lock();
        got = true;
        shared ? m.unlock_shared() : m.unlock();
      });
      shoal::yield();  // it waits
      m.unlock();
      int overtook = 0;
      for (; overtook < 1000 && (overtook % 2 == 0 ? m.try_lock() : m.try_lock_shared()); ++overtook)
        overtook % 2 == 0 ? m.unlock() : m.unlock_shared();
      EXPECT_GT(overtook, 0);
      EXPECT_LT(overtook, 1000);
      EXPECT_FALSE(got);
      m.lock();  // after it
      EXPECT_TRUE(got);
      m.unlock();
      group.wait();
    }
  });
}

TEST_P(sharing, who_gives_up_lets_those_behind_go_on) {
  run_pool(GetParam(), [] {
    shoal::shared_mutex m;
    m.lock_shared();
    shoal::task_group group;
    std::atomic<bool> read{false};
    std::atomic<bool> gave_up{false};
    std::atomic<bool> waits{false};
    group.run([&] {
      waits = true;
      EXPECT_FALSE(m.try_lock_for(milliseconds(30)));
      gave_up = true;
    });
    while (!waits) shoal::yield();
    group.run([&] {
      const std::shared_lock hold(m);  // behind the writer, while a reader holds it
      read = true;
    });
    while (!gave_up || !read) shoal::yield();
    m.unlock_shared();
    group.wait();
    ASSERT_TRUE(m.try_lock());
    EXPECT_FALSE(m.try_lock_shared_for(milliseconds(1)));
    EXPECT_FALSE(m.try_lock_until(std::chrono::steady_clock::now()));
    m.unlock();
    EXPECT_TRUE(m.try_lock_shared_for(milliseconds(1)));
    EXPECT_FALSE(m.try_lock());
    m.unlock_shared();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(sharing, readers_behind_a_writer_that_comes_too_late_join_those_that_have_the_lock) {
  run_pool(1, [] {
    shoal::shared_mutex m;
    std::atomic<bool> read{false};
    shoal::task_group group;
    m.lock();
    const auto begun = std::chrono::steady_clock::now();
    group.run([&] { EXPECT_FALSE(m.try_lock_for(milliseconds(2))); });
    shoal::yield();
    group.run([&] {
      const std::shared_lock hold(m);
      read = true;
    });
    shoal::yield();
    while (std::chrono::steady_clock::now() < begun + milliseconds(5))
      continue;                        // the limit passes, and no timer fires
    m.unlock();                        // wakes the writer
    ASSERT_TRUE(m.try_lock_shared());  // overtakes it
    while (!read) shoal::yield();
    m.unlock_shared();
    group.wait();
  });
}

TEST(sharing_misuse, is_told) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::shared_mutex m;
                          m.unlock();
                        }),
               "no writer holds");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::shared_mutex m;
                          m.unlock_shared();
                        }),
               "no reader holds");
}

}  // namespace
