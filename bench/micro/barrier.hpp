// SPDX-License-Identifier: Apache-2.0
// `shoal bench barrier`: a barrier, and an allreduce of 8 bytes, over the nodes of a job.
// Who may call: the command's main thread. Guarantees: checks the value of every reduction on every node, and that no
// node leaves a barrier before all nodes have entered. Test: tests/cluster/collectives_bench_test.cpp.
#pragma once

#include <cstdint>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct barrier_result {
  double barrier_us = 0;
  double allreduce_us = 0;
  bool ordered = false;  // no node left a barrier too early
  bool summed = false;   // every reduction returned the correct sum on every node
};

/// Called by the main task of a job.
barrier_result measure_barrier(std::uint64_t rounds);

subcommand_body declare_barrier(CLI::App& app);

}  // namespace shoal::bench
