// SPDX-License-Identifier: Apache-2.0
// Graph500's rules for a breadth-first search: (1) the tree has no cycle and its root is the root of the search; (2) a
// tree edge connects levels that differ by one; (3) an edge of the graph connects levels that differ by at most one;
// (4) the tree contains all reachable vertices; (5) a tree edge is an edge of the graph. Together they imply that each
// level is a shortest distance. There are checks of a single vertex and a single edge, for kernels that collect
// (parent, level) themselves, and validate_tree for whole arrays. All rules hold if check_root, check_vertex of every
// vertex and check_edge of every edge pass, and at least one edge confirmed every reached vertex except the root
// (confirms_*). Rule 1 follows from local checks: levels fall by one along parents, and only the root has level 0.
// Who may call: any thread, concurrently; never switches tasks, checks never allocate.
// Source: Graph500 specification 2.0, section 8. Test: tests/unit/kernels/bfs_rules_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/graph/edge.hpp"

namespace shoal::kernels::bfs {

inline constexpr std::uint64_t k_no_parent = ~std::uint64_t{0};
inline constexpr std::uint64_t k_no_level = ~std::uint64_t{0};

/// The result of a search for one vertex: parent and level are both known or both unknown.
struct visit {
  std::uint64_t parent = k_no_parent;
  std::uint64_t level = k_no_level;
  bool reached() const noexcept { return parent != k_no_parent; }
};

using graph::direction;  // in which the search followed the edges

enum class tree_fault : std::uint8_t {
  none,
  half_reached,         // a parent without a level, or a level without a parent
  root_wrong,           // 1: the root must be its own parent at level 0
  parent_out_of_range,  // 1
  own_parent,           // 1: only the root may be its own parent
  parent_unreached,     // 1
  cycle,                // 1: the parents form a cycle (only levels_of_tree reports this)
  level_of_parent,      // 2: the parent is not exactly one level above
  level_of_edge,        // 3
  not_spanned,          // 4
  no_such_edge,         // 5
  edge_out_of_range,    // the edge is out of range; not a fault of the tree
};

/// 1 to 5, or 0 if the fault violates no rule of Graph500.
int rule_of(tree_fault fault) noexcept;
std::string_view describe(tree_fault fault) noexcept;

tree_fault check_root(std::uint64_t root, visit at_root) noexcept;

/// `at_parent` is needed only if needs_parent() says so; then get it from the owner of the parent.
bool needs_parent(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex) noexcept;
tree_fault check_vertex(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex,
                        visit at_parent) noexcept;

struct edge_verdict {
  tree_fault fault = tree_fault::none;
  bool confirms_from = false;  // this is the tree edge of `from`
  bool confirms_to = false;
  bool traversed = false;  // counts for the edges per second: it is in the searched component
};
edge_verdict check_edge(const graph::edge& e, visit at_from, visit at_to, direction way) noexcept;

struct tree_verdict {
  tree_fault fault = tree_fault::none;
  std::string message;  // the fault, with vertex or edge; empty if there is none
  std::uint64_t reached = 0;
  std::uint64_t traversed = 0;  // edges, as Graph500 counts them: with repetitions and self loops
  std::uint64_t deepest = 0;    // level
  bool right() const noexcept { return fault == tree_fault::none; }
};

/// All rules on whole arrays. `levels` may be empty: then they are computed from the parents.
tree_verdict validate_tree(std::uint64_t root, std::span<const std::uint64_t> parents,
                           std::span<const std::uint64_t> levels, std::span<const graph::edge> edges,
                           direction way = direction::both);

/// The levels that the parents imply, in time linear in the number of vertices. On a fault `levels` is empty and `at`
/// is a vertex with the fault.
struct tree_levels {
  tree_fault fault = tree_fault::none;
  std::uint64_t at = 0;
  std::vector<std::uint64_t> levels;
};
tree_levels levels_of_tree(std::uint64_t root, std::span<const std::uint64_t> parents);

}  // namespace shoal::kernels::bfs
