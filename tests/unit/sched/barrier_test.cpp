// SPDX-License-Identifier: Apache-2.0
#include "shoal/barrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;

class meeting : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, meeting, testing::Values(1U, 2U, 4U));

TEST_P(meeting, nobody_goes_on_before_all_have_come) {
  run_pool(GetParam(), [] {
    constexpr int k_tasks = 50;
    constexpr int k_phases = shoal::rounds(100, 20);
    int phase = 0;  // written by the completion, while all others wait
    shoal::barrier all(k_tasks, [&phase]() noexcept { ++phase; });
    std::vector<std::atomic<int>> reached(k_tasks);
    shoal::task_group group;
    for (int t = 0; t < k_tasks; ++t)
      group.run([&, t] {
        for (int p = 1; p <= k_phases; ++p) {
          reached[static_cast<std::size_t>(t)] = p;
          all.arrive_and_wait();
          for (const auto& r : reached) ASSERT_GE(r, p);
          ASSERT_EQ(phase, 2 * p - 1);
          all.arrive_and_wait();
        }
      });
    group.wait();
    EXPECT_EQ(phase, 2 * k_phases);
  });
}

TEST_P(meeting, tasks_drop_out_and_arrive_without_waiting) {
  run_pool(GetParam(), [] {
    int phases = 0;
    shoal::barrier all(3, [&phases]() noexcept { ++phases; });
    shoal::task_group group;
    group.run([&] { all.arrive_and_drop(); });
    group.run([&] {
      for (int i = 0; i < 3; ++i) all.arrive_and_wait();
    });
    for (int i = 0; i < 3; ++i) {
      const auto phase = all.arrive();
      all.wait(phase);
      EXPECT_GE(phases, i + 1);
    }
    group.wait();
    EXPECT_EQ(phases, 3);
  });
}

TEST(meeting_misuse, is_told) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_pool(1,
                        [] {
                          shoal::barrier one(1);
                          static_cast<void>(one.arrive(2));
                        }),
               "more tasks arrive");
}

}  // namespace
