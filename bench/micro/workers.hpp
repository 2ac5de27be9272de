// SPDX-License-Identifier: Apache-2.0
// Workers without a job: the scheduler only, for benchmarks of tasks within one process.
// Who may call: one thread outside the runtime. Guarantees: workers are pinned as those of a node; the call returns when
// the main task has ended, and rethrows its exception. Test: tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/profiling.hpp"

namespace shoal::bench {

struct worker_counts {
  std::uint64_t spawned = 0;
  std::uint64_t stolen = 0;
  std::uint64_t waits = 0;
  std::uint64_t parks = 0;
  std::uint64_t heavy_fences = 0;  // membarriers of workers that park
  std::uint64_t system_calls = 0;  // of idle workers and of those that wake them
};

/// Checks the settings of the environment and of files, and warns, as a job does at its start.
void check_settings();

/// The default number of workers: the setting, else that of a single node on this machine.
unsigned default_workers();

/// The name of the victim policy: `asked`, or the setting if that is empty.
std::string chosen_steal(const std::string& asked);

/// Runs `main_task` on `workers` workers and returns the sum of their counters. `steal` names a victim policy; empty:
/// the setting. All other settings of the scheduler, and those of traces, apply as in a job.
worker_counts run_on_workers(unsigned workers, const std::function<void()>& main_task, const std::string& steal = "",
                             profile_collector* profiling = nullptr);

}  // namespace shoal::bench
