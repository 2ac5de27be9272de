// SPDX-License-Identifier: Apache-2.0
// `shoal bench blocked`: a great many tasks that all wait, then all wake: what a waiting task costs in memory and time.
// bytes_per_task counts everything the process has in memory for them (stacks, descriptors, queues, closures): the
// growth of resident memory from before the first is begun until all wait.
// Who may call: the command's main thread. Guarantees: every task's wake-up is counted and checked.
// Shown by tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>

#include "bench/profiling.hpp"
#include "bench/subcommand.hpp"

namespace shoal::bench {

struct blocked_result {
  double bytes_per_task = 0;
  double block_ns = 0;  // beginning a task and leaving it waiting
  double wake_ns = 0;   // waking it and running it to its end
  std::uint64_t waited = 0;
  std::uint64_t woken = 0;
};

blocked_result measure_blocked(unsigned workers, std::uint64_t tasks, profile_collector* profiling = nullptr);

subcommand_body declare_blocked(CLI::App& app);

}  // namespace shoal::bench
