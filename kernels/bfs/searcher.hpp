// SPDX-License-Identifier: Apache-2.0
// A graph, one of the two forms of search, and the validator, behind one interface that hides the width of vertex
// numbers. The command line and the demonstrations use it.
// Who may call: a task; building, searching and validating switch.
// Guarantees: validate() and traversed() refer to the last search(). search_s() is the time of that search alone, from
// a graph in memory to a tree in memory, including the clearing of the previous result (as Graph500 requires).
// Errors: those of distributed_graph and fast_search. Tests: tests/cluster/bfs_test.cpp, tests/unit/tools/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/bfs/fast.hpp"
#include "kernels/bfs/rules.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/graph/kronecker.hpp"

namespace shoal::kernels::bfs {

enum class search_form { fast, simple };

struct searcher_options {
  search_form form = search_form::fast;
  search_options search;
  build_options build;  // keep_edges: whether validate() may be called
};

class searcher {
public:
  virtual ~searcher() = default;

  virtual search_counts search(std::uint64_t root) = 0;
  virtual tree_verdict validate() = 0;
  virtual std::uint64_t traversed() = 0;
  /// The whole tree, on this node; k_no_parent for unreached vertices.
  virtual std::vector<std::uint64_t> parents() = 0;
  /// Whether a search from the vertex reaches another vertex.
  virtual bool leads_on(std::uint64_t vertex) = 0;

  /// Up to `count` different vertices for which leads_on() holds, chosen by the seed. Throws bad_input if there is
  /// none.
  std::vector<std::uint64_t> choose_roots(std::uint64_t count, std::uint64_t seed);

  std::uint64_t vertices() const noexcept { return vertices_; }
  std::uint64_t input_edges() const noexcept { return input_edges_; }
  std::uint64_t arcs() const noexcept { return arcs_; }
  double generation_s() const noexcept { return generation_s_; }
  /// Time from edges in memory (distributed over the nodes) to a searchable graph.
  double construction_s() const noexcept { return construction_s_; }
  double search_s() const noexcept { return search_s_; }

protected:
  std::uint64_t vertices_ = 0;
  std::uint64_t input_edges_ = 0;
  std::uint64_t arcs_ = 0;
  double generation_s_ = 0;
  double construction_s_ = 0;
  double search_s_ = 0;
};

std::unique_ptr<searcher> make_searcher(const graph::kronecker& generator, const searcher_options& options);
std::unique_ptr<searcher> make_searcher(const graph::uniform& generator, const searcher_options& options);
/// Builds from edges on this node; frees them during the call.
std::unique_ptr<searcher> make_searcher(std::uint64_t vertices, std::vector<graph::edge> edges,
                                        const searcher_options& options);

/// Approximate memory for the graph, a search and its validation on all nodes together; saturates.
std::uint64_t bytes_needed(std::uint64_t vertices, std::uint64_t edges, std::uint64_t nodes,
                           const searcher_options& options);

}  // namespace shoal::kernels::bfs
