// SPDX-License-Identifier: Apache-2.0
// `shoal bench dependences`: a wavefront of empty tiles, where each tile waits for the one above and the one to its
// left: by a task_graph that is built once (`graph_ns_per_task`) and by a task_flow whose tasks declare what they read
// and write (`flow_ns_per_task`, registration included).
// Who may call: the command's main thread. Guarantees: every tile's number is checked.
// Shown by tests/unit/bench/sched_test.cpp.
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

/// `sweeps` times over `side` by `side` tiles.
dependence_result measure_wavefront(dependence_form form, unsigned workers, unsigned side, unsigned sweeps,
                                    const std::string& steal = "random");

subcommand_body declare_dependences(CLI::App& app);

}  // namespace shoal::bench
