// SPDX-License-Identifier: Apache-2.0
// A graph spread over the nodes: node n holds the vertices [n*block, (n+1)*block), their rows of compressed sparse
// rows, and a share of the input's edges (for validation). Rows have neither self loops nor repetitions; those of an
// undirected graph hold both directions, with the neighbours of most edges first (a search towards the root finds those
// soonest). Who may call: the building functions are for tasks and switch, like freeing; a graph_view is a value that
// captures and travels, valid while its graph exists.
// Guarantees: all nodes build at the same time; each edge's two ends travel to their owners together with many others.
// Memory per node: edges/N * (2 + 2) ids (4 bytes each below 2^32 vertices), 20 bytes per own vertex; while building 8
// more per own vertex and 1 byte per vertex of the whole graph.
// Errors: out_of_memory as global arrays say it. Shown by tests/cluster/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/graph/edge.hpp"
#include "kernels/graph/kronecker.hpp"
#include "kernels/graph/validate.hpp"
#include "shoal/array.hpp"

namespace shoal::kernels::bfs {

template <class Id>
struct arc {
  Id from;
  Id to;
};

template <class Id>
struct graph_view {
  static constexpr Id k_nobody = std::numeric_limits<Id>::max();

  std::uint64_t vertices = 0;
  std::uint64_t block = 0;  // vertices per node; a multiple of 64, so that a word of a bitmap has one owner
  graph::direction way = graph::direction::both;
  array_ref<std::uint64_t> offsets;        // block + 1 per node, into targets
  array_ref<Id> targets;                   // as many per node as the node with most needs
  array_ref<std::uint32_t> input_degrees;  // what Graph500 counts: with repetitions; a self loop at both its ends
  array_ref<arc<Id>> edges;                // of the input; empty when they were not kept

  /// Places for vertices on all nodes together: vertices and what fills the last block.
  std::uint64_t slots() const noexcept { return input_degrees.size(); }
  std::uint32_t owner(std::uint64_t vertex) const noexcept { return input_degrees.owner(vertex); }
  /// The element of `offsets` where a vertex' row begins; where it ends is the next one.
  std::uint64_t row(std::uint64_t vertex) const noexcept { return vertex + owner(vertex); }
  /// The element of `targets` that offset 0 of the vertex' node stands for.
  std::uint64_t first_target(std::uint64_t vertex) const noexcept {
    return owner(vertex) * targets.layout().divisor.divisor();
  }
};

struct build_options {
  graph::direction way = graph::direction::both;
  bool keep_edges = true;  // for validation
};

template <class Id>
class distributed_graph {
public:
  /// Each node generates its part.
  static distributed_graph generate(const graph::kronecker& generator, const build_options& options);
  static distributed_graph generate(const graph::uniform& generator, const build_options& options);
  /// From edges that the calling node holds. They are released on the way.
  static distributed_graph distribute(std::uint64_t vertices, std::vector<graph::edge> edges,
                                      const build_options& options);

  const graph_view<Id>& view() const noexcept { return view_; }
  /// Elements in all rows together.
  std::uint64_t arcs() const noexcept { return arcs_; }
  std::uint64_t input_edges() const noexcept { return input_edges_; }
  /// What making or sending out the edges took, and from there to rows.
  double generation_s() const noexcept { return generation_s_; }
  double construction_s() const noexcept { return construction_s_; }

private:
  distributed_graph(std::uint64_t vertices, std::uint64_t edges, const build_options& options);
  template <class Generator>
  static distributed_graph generate_with(const Generator& generator, const build_options& options);
  void build_rows(const build_options& options);

  graph_view<Id> view_;
  std::uint64_t arcs_ = 0;
  std::uint64_t input_edges_ = 0;
  double generation_s_ = 0;
  double construction_s_ = 0;
  global_array<std::uint64_t> offsets_;
  global_array<Id> targets_;
  global_array<std::uint32_t> input_degrees_;
  global_array<arc<Id>> edges_;
};

extern template class distributed_graph<std::uint32_t>;
extern template class distributed_graph<std::uint64_t>;

/// Whether vertices fit into 32 bits, with one value left for "nobody".
inline bool narrow_ids_serve(std::uint64_t vertices) noexcept {
  return vertices <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace shoal::kernels::bfs
