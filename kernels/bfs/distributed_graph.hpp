// SPDX-License-Identifier: Apache-2.0
// What a search and its validation need: the rows of a graph (shoal/graph.hpp), each without self loops and duplicates,
// with the neighbours of highest degree first where edges are followed both ways, because a search for a parent finds
// these soonest; each vertex's degree in the input, by which Graph500 counts; and the input's edges.
// Who may call: tasks call the building functions, which switch. A graph_view is a value that loops may capture; it is
// valid while its graph exists.
// Memory per node besides the rows: 4 bytes per own vertex, and edges/N * 2 ids if they are kept.
// Errors: out_of_memory, as for global arrays. Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/bfs/rules.hpp"
#include "shoal/array.hpp"
#include "shoal/graph.hpp"

namespace shoal::kernels::bfs {

template <class Id>
using arc = graph::arc<Id>;

template <class Id>
struct graph_view {
  static constexpr Id k_nobody = std::numeric_limits<Id>::max();

  graph_ref<Id> rows;
  std::uint64_t vertices = 0;
  std::uint64_t block = 0;  // vertices per node; a multiple of 64, so that a word of a bitmap has one owner
  direction way = direction::both;
  array_ref<std::uint32_t> input_degrees;  // as Graph500 counts: with duplicates; a self loop counts at both ends
  array_ref<arc<Id>> edges;                // the input's edges; empty if they were not kept

  /// Number of places on all nodes: the vertices and the padding of the last block.
  std::uint64_t slots() const noexcept { return input_degrees.size(); }
  std::uint32_t owner(std::uint64_t vertex) const noexcept { return input_degrees.owner(vertex); }
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
  std::uint64_t arcs() const noexcept { return rows_.arcs(); }
  std::uint64_t input_edges() const noexcept { return rows_.header().edges; }
  /// Time to generate or send the edges, and time from there to the finished rows.
  double generation_s() const noexcept { return generation_s_; }
  double construction_s() const noexcept { return construction_s_; }

private:
  distributed_graph(std::uint64_t vertices, global_array<arc<Id>> edges, double generation_s,
                    const build_options& options);

  double generation_s_ = 0;
  double construction_s_ = 0;
  global_graph<Id> rows_;
  global_array<std::uint32_t> input_degrees_;
  global_array<arc<Id>> edges_;
  graph_view<Id> view_;
};

extern template class distributed_graph<std::uint32_t>;
extern template class distributed_graph<std::uint64_t>;

/// Whether vertex numbers fit into 32 bits, with one value left for k_nobody.
inline bool narrow_ids_serve(std::uint64_t vertices) noexcept {
  return vertices <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace shoal::kernels::bfs
