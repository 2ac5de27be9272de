// SPDX-License-Identifier: Apache-2.0
// The benchmarks of tasks do what they say, and their checks see it. No speeds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "bench/micro/blocked.hpp"
#include "bench/micro/dependences.hpp"
#include "bench/micro/spawn.hpp"
#include "bench/micro/switch.hpp"
#include "bench/micro/wake.hpp"
#include "bench/micro/woken.hpp"
#include "bench/micro/workers.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/task.hpp"

namespace shoal::bench {
namespace {

TEST(sched_bench, yield_gives_every_task_its_turns) {
  for (const unsigned tasks : {1U, 2U, 50U}) {
    const auto r = measure_yield(tasks, 300);
    EXPECT_TRUE(r.correct) << tasks;
    EXPECT_GT(r.ns_per_yield, 0) << tasks;
  }
}

TEST(sched_bench, spawn_counts_its_spawns_in_both_forms) {
  for (const spawn_form form : {spawn_form::invoke, spawn_form::group})
    for (const unsigned workers : {1U, 3U}) {
      const auto r = measure_spawn(form, workers, 16);
      EXPECT_TRUE(r.correct);
      EXPECT_EQ(r.spawns, 1596U);  // fib(17) - 1
      if (workers == 1) {
        EXPECT_EQ(r.steals, 0U);
      }
    }
}

TEST(sched_bench, dependences_count_paths_in_both_forms) {
  for (const dependence_form form : {dependence_form::graph, dependence_form::flow})
    for (const unsigned workers : {1U, 3U}) {
      const auto r = measure_wavefront(form, workers, 20, 5);
      EXPECT_TRUE(r.correct);
      EXPECT_EQ(r.tasks, 400U);
      EXPECT_GT(r.ns_per_task, 0);
    }
}

TEST(sched_bench, blocked_tasks_all_wait_and_all_wake) {
  const auto r = measure_blocked(2, 2000);
  EXPECT_EQ(r.waited, 2000U);
  EXPECT_EQ(r.woken, 2000U);
#if !SHOAL_TSAN && !SHOAL_ASAN
  EXPECT_GT(r.bytes_per_task, 2000);  // at least about a page each
#endif
}

TEST(sched_bench, wake_runs_every_task_and_counts) {
  for (const unsigned workers : {1U, 3U}) {
    const auto r = measure_wake(workers, 200, 3);
    EXPECT_TRUE(r.correct);
    EXPECT_EQ(r.ns_per_spawn.size(), 3U);
    EXPECT_EQ(r.awake_ns_per_spawn.size(), 3U);
    for (const double wakes : r.wakes) EXPECT_LE(wakes, 200);
    if (workers > 1) {
      EXPECT_GT(r.parks, 0);
    }
  }
}

TEST(sched_bench, woken_tasks_all_run) {
  for (const unsigned workers : {1U, 3U}) {
    const auto r = measure_woken(workers, 30, 10);
    EXPECT_TRUE(r.correct);
    EXPECT_GT(r.tied_s, 0);
    EXPECT_GT(r.movable_s, 0);
  }
}

TEST(sched_bench, workers_count_and_rethrow) {
  const auto counts = run_on_workers(2, [] {
    task_group group;
    for (int i = 0; i < 10; ++i) group.run([] {});
    group.wait();
  });
  EXPECT_EQ(counts.spawned, 10U);
  EXPECT_THROW(run_on_workers(1, [] { throw std::runtime_error("main"); }), std::runtime_error);
  EXPECT_GE(default_workers(), 1U);
}

// A variable of the environment, for the life of the object.
class variable {
public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv(name_); }

private:
  const char* name_;
};

TEST(sched_bench, workers_take_the_settings) {
  const variable workers("SHOAL_WORKERS", "3");
  const variable stack("SHOAL_STACK", "256K");
  EXPECT_EQ(default_workers(), 3U);
  std::size_t bytes = 0;
  run_on_workers(1, [&bytes] { bytes = sched::this_worker()->owner().stacks().stack_bytes(); });
  EXPECT_GE(bytes, std::size_t{256} << 10);
  const variable steal("SHOAL_STEAL", "sticky");
  EXPECT_EQ(chosen_steal(""), "sticky");
  EXPECT_EQ(chosen_steal("nearest"), "nearest");
  EXPECT_THROW(run_on_workers(
                   1, [] {}, "nobody"),
               error);
}

TEST(sched_bench, wrong_settings_are_refused) {
  const variable wrong("SHOAL_STEAL", "nobody");
  EXPECT_THROW(measure_wake(1, 1, 1), error);
  EXPECT_THROW(check_settings(), error);
}

}  // namespace
}  // namespace shoal::bench
