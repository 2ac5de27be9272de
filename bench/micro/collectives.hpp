// SPDX-License-Identifier: Apache-2.0
// `shoal bench collectives`: what collective operations over the nodes of a job take, for data of a given size.
// Who may call: the command's main thread. Guarantees: of each operation one run before the timed ones and one after them
// is checked on every node.
// Test: tests/cluster/collectives_bench_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct collective_time {
  std::string name;
  double us = 0;  // one operation, on node 0
  bool right = false;
};

/// Called by the main task of a job. Each operation runs about `seconds` in all. `bytes`: a multiple of 8; of each
/// member, or in all-gather and all-to-all of each block.
std::vector<collective_time> measure_collectives(std::uint64_t bytes, double seconds);

subcommand_body declare_collectives(CLI::App& app);

}  // namespace shoal::bench
