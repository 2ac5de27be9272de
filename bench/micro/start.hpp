// SPDX-License-Identifier: Apache-2.0
// `shoal bench start`: what the hub of a job takes for very many nodes: until all are let in, for an empty exchange, and
// for one of addresses. The nodes are connections of this process, so that the time is the hub's and the system's.
// Who may call: the command's main thread. Guarantees: every node's answer is compared.
// Shown by tests/unit/launch/many_nodes_test.cpp (the nodes), tests/unit/bench/start_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct start_result {
  double come_ms = 0;                // all connect at once, until all are welcomed
  std::vector<double> empty_ms;      // an exchange of nothing
  std::vector<double> addresses_ms;  // an exchange of `bytes` from each
  bool correct = false;              // every node has received every part
};

start_result measure_start(std::uint32_t nodes, std::uint32_t bytes, unsigned rounds);

subcommand_body declare_start(CLI::App& app);

}  // namespace shoal::bench
