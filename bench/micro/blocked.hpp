// SPDX-License-Identifier: Apache-2.0
// `shoal bench blocked`: very many tasks that all wait and then all wake: memory and time per waiting task.
// bytes_per_task is the growth of resident memory (stacks, descriptors, queues, closures) from before the first task
// begins until all wait.
// Who may call: the command's main thread. Guarantees: counts and checks the wake-up of every task.
// Test: tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>

#include "bench/profiling.hpp"
#include "bench/subcommand.hpp"

namespace shoal::bench {

struct blocked_result {
  double bytes_per_task = 0;
  double block_ns = 0;  // time to begin a task until it waits
  double wake_ns = 0;   // time to wake a task and run it to its end
  std::uint64_t waited = 0;
  std::uint64_t woken = 0;
};

blocked_result measure_blocked(unsigned workers, std::uint64_t tasks, profile_collector* profiling = nullptr);

subcommand_body declare_blocked(CLI::App& app);

}  // namespace shoal::bench
