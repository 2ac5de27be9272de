// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, the fast form: one body per node with several workers; visited bitmaps; aggregated pairs
// (vertex, parent); and a change of direction: while the frontier is large, unreached vertices search for a parent in
// the frontier (bottom-up), instead of the frontier searching for unreached vertices (top-down).
//   fast_search<std::uint32_t> search(graph.view());  search.run(root);  search.parents()
// Who may call: a task; run() switches. One object serves any number of searches.
// Guarantees: parents()[v] is a parent of v at the least distance; the root's parent is the root; k_nobody if
// unreached.
// Memory per node: 3 ids per own vertex and 3 bits per vertex of the whole graph.
// Errors: bottom-up needs rows with both directions; run() throws invalid_argument if it is forced on another graph.
// Source: see node_search.hpp. Test: tests/cluster/bfs_test.cpp; measured by `shoal bfs`.
#pragma once

#include <cstdint>

#include "kernels/bfs/distributed_graph.hpp"
#include "kernels/bfs/node_search.hpp"
#include "shoal/array.hpp"

namespace shoal::kernels::bfs {

enum class step_kind { automatic, top_down, bottom_up };

struct search_options {
  step_kind steps = step_kind::automatic;
  double alpha = 15;  // bottom-up when the frontier has more than 1/alpha of the remaining arcs
  double beta = 24;   // top-down again when the frontier shrinks below 1/beta of the vertices
};

struct search_counts {
  std::uint64_t levels = 0;      // number of searched levels: the depth of the tree plus one
  std::uint64_t bottom_up = 0;   // number of bottom-up levels
  std::uint64_t pairs_sent = 0;  // pairs (vertex, parent) sent to other nodes
};

template <class Id>
class fast_search {
public:
  explicit fast_search(const distributed_graph<Id>& g, const search_options& options = {});

  search_counts run(std::uint64_t root);
  array_ref<Id> parents() const noexcept { return parents_; }

  /// The captures of the body on each node.
  struct handles {
    graph_view<Id> graph;
    search_options options;
    std::uint64_t arcs;
    array_ref<node_search<Id>> nodes;
    array_ref<std::uint64_t> frontier[2];  // slots/64 words per node
    array_ref<search_counts> counts;
  };

private:
  handles shared_;
  global_array<Id> parents_;
  global_array<Id> queue_;
  global_array<Id> best_;
  global_array<std::uint64_t> alone_;
  global_array<std::uint64_t> seen_;
  global_array<std::uint64_t> frontier_[2];
  global_array<found_vertices<Id>> found_;
  global_array<node_search<Id>> nodes_;
  global_array<search_counts> counts_;
};

extern template class fast_search<std::uint32_t>;
extern template class fast_search<std::uint64_t>;

}  // namespace shoal::kernels::bfs
