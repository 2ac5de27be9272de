// SPDX-License-Identifier: Apache-2.0
// A graph with a task per tile, built once and run by every sweep.
#include <vector>

#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task_graph.hpp"

namespace {

using namespace problems::wavefront;

void connect(shoal::task_graph& graph, square& tiles) {
  const unsigned side = tiles.side();
  std::vector<shoal::task_graph::handle> tasks;
  for (unsigned row = 0; row < side; ++row) {
    for (unsigned column = 0; column < side; ++column) {
      tasks.push_back(graph.add([&tiles, row, column] { tiles.compute(row, column); }));
      if (row > 0) tasks.back().succeeds(tasks[std::size_t{row - 1} * side + column]);
      if (column > 0) tasks.back().succeeds(tasks[tasks.size() - 2]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::task_graph graph;
  connect(graph, m.problem().tiles);
  shoal::pool pool(m.workers());
  pool.run([&] {
    m.run([&graph](problem&) {
      for (unsigned i = 0; i < k_sweeps; ++i) graph.run();
    });
  });
  return m.finish();
}
