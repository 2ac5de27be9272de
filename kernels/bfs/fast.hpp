// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, the fast form: one body per node, several workers in it; visited bitmaps; pairs (vertex,
// parent) that travel many together; and a change of direction: while the frontier is large, unreached vertices look
// for a parent in it (bottom-up) instead of the frontier looking for unreached vertices (top-down).
//   fast_search<std::uint32_t> search(graph.view());  search.run(root);  search.parents()
// Who may call: a task; run() switches. The state is allocated once and serves any number of searches.
// Guarantees: parents()[v] is v's parent at the least distance, the root's own is the root, k_nobody if not reached.
// Memory per node: 3 ids per own vertex and 3 bits per vertex of the whole graph.
// Errors: bottom-up needs rows with both directions; run() throws invalid_argument if it is forced on another graph.
// Source: see node_search.hpp. Shown by tests/cluster/bfs_test.cpp; measured by `shoal bfs`.
#pragma once

#include <cstdint>

#include "kernels/bfs/distributed_graph.hpp"
#include "kernels/bfs/node_search.hpp"
#include "shoal/array.hpp"

namespace shoal::kernels::bfs {

enum class step_kind { automatic, top_down, bottom_up };

struct search_options {
  step_kind steps = step_kind::automatic;
  double alpha = 15;  // bottom-up when the frontier has more than one in alpha of the arcs that are left
  double beta = 24;   // top-down again when the frontier shrinks below one in beta of the vertices
};

struct search_counts {
  std::uint64_t levels = 0;      // that were searched: the depth of the tree and one more
  std::uint64_t bottom_up = 0;   // of these
  std::uint64_t pairs_sent = 0;  // vertex and parent, to another node
};

template <class Id>
class fast_search {
public:
  explicit fast_search(const distributed_graph<Id>& g, const search_options& options = {});

  search_counts run(std::uint64_t root);
  array_ref<Id> parents() const noexcept { return parents_; }

  /// What the body on each node captures.
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
