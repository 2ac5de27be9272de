// SPDX-License-Identifier: Apache-2.0
// A graph with a node per tile, built once and run by every sweep.
#include <taskflow/taskflow.hpp>

#include <vector>

#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;

void connect(tf::Taskflow& graph, square& tiles) {
  const unsigned side = tiles.side();
  std::vector<tf::Task> nodes;
  for (unsigned row = 0; row < side; ++row) {
    for (unsigned column = 0; column < side; ++column) {
      const tf::Task node = graph.emplace([&tiles, row, column] { tiles.compute(row, column); });
      nodes.push_back(node);
      if (row > 0) nodes[std::size_t{row - 1} * side + column].precede(node);
      if (column > 0) nodes[std::size_t{row} * side + column - 1].precede(node);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  tf::Taskflow graph;
  connect(graph, m.problem().tiles);
  m.run([&](problem&) { executor.run_n(graph, k_sweeps).wait(); });
  return m.finish();
}
