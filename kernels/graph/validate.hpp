// SPDX-License-Identifier: Apache-2.0
// Graph500's rules for the result of a breadth-first search: (1) the tree has no cycle and hangs at the root; (2) a
// tree edge joins levels that differ by one; (3) an edge of the graph joins levels that differ by at most one; (4) the
// tree spans all that can be reached; (5) a tree edge is an edge of the graph. Together: each level is a shortest
// distance. Two forms: pure checks of one vertex and of one edge, for kernels that gather (parent, level) as they like;
// and validate_tree on whole arrays. The rules are all met when check_root, check_vertex of every vertex, check_edge of
// every edge pass, and every reached vertex but the root was confirmed by at least one edge (confirms_*).
// Rule 1 follows from local checks: levels fall by one along parents, and only the root has level 0.
// Who may call: anyone, concurrently; never switches tasks, checks never allocate.
// Source: Graph500 specification 2.0, section 8. Shown by tests/unit/kernels_graph/validate_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/edge.hpp"

namespace shoal::kernels::graph {

inline constexpr std::uint64_t k_no_parent = ~std::uint64_t{0};
inline constexpr std::uint64_t k_no_level = ~std::uint64_t{0};

/// What a search says of a vertex: both known or neither.
struct visit {
  std::uint64_t parent = k_no_parent;
  std::uint64_t level = k_no_level;
  bool reached() const noexcept { return parent != k_no_parent; }
};

/// Which way the search followed the edges.
enum class direction { both, forward, reverse };

enum class tree_fault : std::uint8_t {
  none,
  half_reached,         // a parent without a level or the other way round
  root_wrong,           // 1: the root must be its own parent at level 0
  parent_out_of_range,  // 1
  own_parent,           // 1: only the root may be its own parent
  parent_unreached,     // 1
  cycle,                // 1: following the parents never ends (only levels_of_tree sees it as such)
  level_of_parent,      // 2: the parent is not exactly one level above
  level_of_edge,        // 3
  not_spanned,          // 4
  no_such_edge,         // 5
  edge_out_of_range,    // of the graph; no fault of the tree
};

/// 1 to 5, or 0 where no rule of Graph500 stands behind the fault.
int rule_of(tree_fault fault) noexcept;
std::string_view describe(tree_fault fault) noexcept;

tree_fault check_root(std::uint64_t root, visit at_root) noexcept;

/// `at_parent` is needed only where needs_parent says so; gather it then from wherever the parent lives.
bool needs_parent(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex) noexcept;
tree_fault check_vertex(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex,
                        visit at_parent) noexcept;

struct edge_verdict {
  tree_fault fault = tree_fault::none;
  bool confirms_from = false;  // the tree edge of `from` exists: it is this one
  bool confirms_to = false;
  bool traversed = false;  // counts for the edges per second: it lies in the component that was searched
};
edge_verdict check_edge(const edge& e, visit at_from, visit at_to, direction way) noexcept;

struct tree_verdict {
  tree_fault fault = tree_fault::none;
  std::string sentence;  // what is wrong, with vertex or edge; empty if nothing is
  std::uint64_t reached = 0;
  std::uint64_t traversed = 0;  // edges, as Graph500 counts them: with repetitions and self loops
  std::uint64_t deepest = 0;    // level
  bool right() const noexcept { return fault == tree_fault::none; }
};

/// All rules on whole arrays. `levels` may be empty: then they are computed from the parents.
tree_verdict validate_tree(std::uint64_t root, std::span<const std::uint64_t> parents,
                           std::span<const std::uint64_t> levels, std::span<const edge> edges,
                           direction way = direction::both);

/// The levels that the parents imply, in time linear in the vertices. On a fault levels is empty and `at` a vertex of
/// it.
struct tree_levels {
  tree_fault fault = tree_fault::none;
  std::uint64_t at = 0;
  std::vector<std::uint64_t> levels;
};
tree_levels levels_of_tree(std::uint64_t root, std::span<const std::uint64_t> parents);

}  // namespace shoal::kernels::graph
