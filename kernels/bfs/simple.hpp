// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, the simple form: level by level, a parallel loop over the frontier, and a blocking verb for
// every access to the graph and to the result. The runtime hides the latency and aggregates the accesses. The fast
// form: fast.hpp.
// Who may call: a task; it switches. Returns the number of levels; parents[v] is k_nobody for unreached v.
// Source: Morari 2014, figure 5.2. Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/bfs/distributed_graph.hpp"
#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::bfs {

template <class Id>
std::uint64_t simple_search(const graph_view<Id>& g, const array_ref<Id>& parents, std::uint64_t root) {
  constexpr Id nobody = graph_view<Id>::k_nobody;
  global_array<Id> frontier(g.vertices);
  global_array<Id> next(g.vertices);
  global_array<std::uint64_t> next_size(1);

  parents.fill(nobody);
  parents.put(root, static_cast<Id>(root));
  frontier->put(0, static_cast<Id>(root));

  std::uint64_t levels = 0;
  for (std::uint64_t size = 1; size > 0; ++levels) {
    next_size->put(0, 0);
    parallel_for(everywhere, size,
                 [rows = g.rows, parents, frontier = frontier.ref(), next = next.ref(),
                  next_size = next_size.ref()](std::uint64_t i) {
                   const Id v = frontier.get(i);
                   std::vector<Id> room;
                   for (const Id neighbour : rows.row(v, room))
                     if (parents.compare_exchange(neighbour, nobody, v) == nobody)
                       next.put(next_size.fetch_add(0, 1), neighbour);
                 });
    size = next_size->get(0);
    std::swap(frontier, next);
  }
  return levels;
}

}  // namespace shoal::kernels::bfs
