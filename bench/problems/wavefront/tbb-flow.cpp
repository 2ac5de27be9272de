// SPDX-License-Identifier: Apache-2.0
// A flow graph with a node per tile, built once and used by every sweep.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;
using tbb::flow::continue_msg;
using tile_node = tbb::flow::continue_node<continue_msg>;

void connect(tbb::flow::graph& graph, std::deque<tile_node>& nodes, square& tiles) {
  const unsigned side = tiles.side();
  for (unsigned row = 0; row < side; ++row) {
    for (unsigned column = 0; column < side; ++column) {
      tile_node& node = nodes.emplace_back(graph, [&tiles, row, column](continue_msg) { tiles.compute(row, column); });
      if (row > 0) tbb::flow::make_edge(nodes[std::size_t{row - 1} * side + column], node);
      if (column > 0) tbb::flow::make_edge(nodes[std::size_t{row} * side + column - 1], node);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    tbb::flow::graph graph;
    std::deque<tile_node> nodes;
    connect(graph, nodes, m.problem().tiles);
    m.run([&](problem&) {
      for (unsigned i = 0; i < k_sweeps; ++i) {
        nodes.front().try_put(continue_msg());
        graph.wait_for_all();
      }
    });
  });
  return m.finish();
}
