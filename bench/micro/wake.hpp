// SPDX-License-Identifier: Apache-2.0
// `shoal bench wake`: tasks spawned into a pool whose other workers all sleep, and into one whose other workers are all
// occupied (by tasks that block their threads, so that they leave the processors to the spawner). Per round of spawns:
// time per spawn, sleepers woken by the spawner, system calls and membarriers of all workers, parks.
// Who may call: the command's main thread. Guarantees: each task is checked to have run once.
// Shown by tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct wake_result {
  std::vector<double> ns_per_spawn;        // by round, into the sleeping pool
  std::vector<double> wakes;               // by round: futex_wake by the spawner while it spawned
  std::vector<double> awake_ns_per_spawn;  // by round, into the occupied pool
  double system_calls = 0;                 // per round, of all workers: sleeps, wakes, membarriers, sched_yield
  double parks = 0;                        // per round, of all workers
  double heavy_fences = 0;                 // per round, of all workers
  bool correct = false;
};

wake_result measure_wake(unsigned workers, unsigned tasks, unsigned rounds);

subcommand_body declare_wake(CLI::App& app);

}  // namespace shoal::bench
