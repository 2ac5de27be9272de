// SPDX-License-Identifier: Apache-2.0
// `shoal bench dependences`: a wavefront of empty tiles; each tile depends on the tile above and the tile to the left.
// Measures a task_graph that is built once (`graph_ns_per_task`), and a task_flow whose tasks declare their accesses
// (`flow_ns_per_task`, including the registration).
// Who may call: the command's main thread. Guarantees: checks the number of every tile.
// Test: tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "bench/subcommand.hpp"

namespace shoal::bench {

enum class dependence_form { graph, flow };

struct dependence_result {
  double ns_per_task = 0;  // median over the sweeps
  std::uint64_t tasks = 0;
  std::uint64_t steals = 0;
  bool correct = false;
};

/// Runs `sweeps` sweeps over `side` by `side` tiles.
dependence_result measure_wavefront(dependence_form form, unsigned workers, unsigned side, unsigned sweeps,
                                    const std::string& steal = "");

subcommand_body declare_dependences(CLI::App& app);

}  // namespace shoal::bench
