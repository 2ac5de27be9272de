// SPDX-License-Identifier: Apache-2.0
// `shoal bench barrier`: a barrier, and an allreduce of 8 bytes, over the nodes of a job.
// Who may call: the command's main thread. Guarantees: every reduction's value is checked on every node, and that no
// node leaves a barrier before all have come. Shown by tests/cluster/barrier_bench_test.cpp.
#pragma once

#include <cstdint>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct barrier_result {
  double barrier_us = 0;
  double allreduce_us = 0;
  bool ordered = false;  // nobody left a barrier too early
  bool summed = false;   // every reduction gave the right sum everywhere
};

/// Inside a job, by its main task.
barrier_result measure_barrier(std::uint64_t rounds);

subcommand_body declare_barrier(CLI::App& app);

}  // namespace shoal::bench
