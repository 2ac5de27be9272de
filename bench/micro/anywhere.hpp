// SPDX-License-Identifier: Apache-2.0
// `shoal bench anywhere`: the n queens by recursive spawning, in three forms: async_anywhere with a future per placement,
// an anywhere_group with a task per placement, and, on one node, a task_group. Run it with -n 2 -w 1 and with -n 1 -w 2,
// alternately, to see what it costs that work moves between processes.
// Who may call: the command's main thread. Guarantees: checks the number of solutions of each run.
// Test: tests/cluster/anywhere_bench_test.cpp.
#pragma once

#include <cstdint>

#include "bench/subcommand.hpp"

namespace shoal::bench {

enum class queens_form : std::uint8_t { future, group, local };

struct queens_result {
  double seconds = 0;
  std::uint64_t placements = 0;
  std::uint64_t solutions = 0;
  double busiest = 0;  // the share of the node that made most placements
};

/// Called by the main task of a job.
queens_result measure_queens(queens_form form, unsigned queens);

subcommand_body declare_anywhere(CLI::App& app);

}  // namespace shoal::bench
