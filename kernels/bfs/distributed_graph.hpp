// SPDX-License-Identifier: Apache-2.0
// A graph distributed over the nodes. Node n holds the vertices [n*block, (n+1)*block), their compressed sparse rows,
// and a share of the input's edges (for validation). Rows contain neither self loops nor duplicates. Rows of an
// undirected graph contain both directions, with the neighbours of highest degree first, because a search for a parent
// finds these soonest.
// Who may call: tasks call the building and freeing functions, which switch. A graph_view is a value that loops may
// capture; it is valid while its graph exists.
// Guarantees: all nodes build concurrently; edges are sent to their owners in large messages. Memory per node: edges/N
// * (2 + 2) ids (4 bytes each below 2^32 vertices), 20 bytes per own vertex; while building 8 more per own vertex and 1
// byte per vertex of the whole graph.
// Errors: out_of_memory, as for global arrays. Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "shoal/graph/edge.hpp"
#include "shoal/graph/kronecker.hpp"
#include "kernels/bfs/rules.hpp"
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
  direction way = direction::both;
  array_ref<std::uint64_t> offsets;        // block + 1 per node, into targets
  array_ref<Id> targets;                   // the same size on all nodes: that of the largest
  array_ref<std::uint32_t> input_degrees;  // as Graph500 counts: with duplicates; a self loop counts at both ends
  array_ref<arc<Id>> edges;                // the input's edges; empty if they were not kept

  /// Number of places on all nodes: the vertices and the padding of the last block.
  std::uint64_t slots() const noexcept { return input_degrees.size(); }
  std::uint32_t owner(std::uint64_t vertex) const noexcept { return input_degrees.owner(vertex); }
  /// The index in `offsets` at which a vertex's row begins; the next element is its end.
  std::uint64_t row(std::uint64_t vertex) const noexcept { return vertex + owner(vertex); }
  /// The index in `targets` that corresponds to offset 0 of the vertex's node.
  std::uint64_t first_target(std::uint64_t vertex) const noexcept {
    return targets.layout().local_range(owner(vertex)).first;
  }
};

struct build_options {
  direction way = direction::both;
  bool keep_edges = true;  // for validation
};

template <class Id>
class distributed_graph {
public:
  /// Each node generates its part.
  static distributed_graph generate(const graph::kronecker& generator, const build_options& options);
  static distributed_graph generate(const graph::uniform& generator, const build_options& options);
  /// Builds from edges on the calling node; frees them during the call.
  static distributed_graph distribute(std::uint64_t vertices, std::vector<graph::edge> edges,
                                      const build_options& options);

  const graph_view<Id>& view() const noexcept { return view_; }
  /// Number of elements in all rows.
  std::uint64_t arcs() const noexcept { return arcs_; }
  std::uint64_t input_edges() const noexcept { return input_edges_; }
  /// Time to generate or send the edges, and time from there to the finished rows.
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

/// Whether vertex numbers fit into 32 bits, with one value left for k_nobody.
inline bool narrow_ids_serve(std::uint64_t vertices) noexcept {
  return vertices <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace shoal::kernels::bfs
