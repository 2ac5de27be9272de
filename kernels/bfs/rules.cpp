// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/detail/assert.hpp"

namespace shoal::kernels::bfs {

int rule_of(tree_fault fault) noexcept {
  switch (fault) {
    case tree_fault::none:
    case tree_fault::half_reached:
    case tree_fault::edge_out_of_range: return 0;
    case tree_fault::root_wrong:
    case tree_fault::parent_out_of_range:
    case tree_fault::own_parent:
    case tree_fault::parent_unreached:
    case tree_fault::cycle: return 1;
    case tree_fault::level_of_parent: return 2;
    case tree_fault::level_of_edge: return 3;
    case tree_fault::not_spanned: return 4;
    case tree_fault::no_such_edge: return 5;
  }
  return 0;
}

std::string_view describe(tree_fault fault) noexcept {
  switch (fault) {
    case tree_fault::none: return "nothing is wrong";
    case tree_fault::half_reached: return "it has a parent but no level, or a level but no parent";
    case tree_fault::root_wrong: return "the root is not its own parent at level 0";
    case tree_fault::parent_out_of_range: return "its parent is no vertex";
    case tree_fault::own_parent: return "it is its own parent, which only the root may be";
    case tree_fault::parent_unreached: return "its parent was not reached";
    case tree_fault::cycle: return "its parents form a cycle";
    case tree_fault::level_of_parent: return "its level is not one more than its parent's";
    case tree_fault::level_of_edge: return "it joins levels further apart than a shortest path allows";
    case tree_fault::not_spanned: return "it leads from a reached vertex to one that was not reached";
    case tree_fault::no_such_edge: return "the edge to its parent is not in the graph";
    case tree_fault::edge_out_of_range: return "it has an end that is no vertex";
  }
  return "";
}

tree_fault check_root(std::uint64_t root, visit at_root) noexcept {
  return at_root.parent == root && at_root.level == 0 ? tree_fault::none : tree_fault::root_wrong;
}

bool needs_parent(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex) noexcept {
  return vertex != root && at_vertex.reached() && at_vertex.level != k_no_level && at_vertex.parent < vertices &&
         at_vertex.parent != vertex;
}

tree_fault check_vertex(std::uint64_t vertex, std::uint64_t root, std::uint64_t vertices, visit at_vertex,
                        visit at_parent) noexcept {
  if (vertex == root) return check_root(root, at_vertex);
  if (at_vertex.reached() != (at_vertex.level != k_no_level)) return tree_fault::half_reached;
  if (!at_vertex.reached()) return tree_fault::none;
  if (at_vertex.parent >= vertices) return tree_fault::parent_out_of_range;
  if (at_vertex.parent == vertex) return tree_fault::own_parent;
  if (!at_parent.reached() || at_parent.level == k_no_level) return tree_fault::parent_unreached;
  return at_vertex.level == at_parent.level + 1 ? tree_fault::none : tree_fault::level_of_parent;
}

edge_verdict check_edge(const graph::edge& e, visit at_from, visit at_to, direction way) noexcept {
  const bool forward = way != direction::reverse;   // a step from `from` to `to` is allowed
  const bool backward = way != direction::forward;  // and one from `to` to `from`
  edge_verdict verdict;
  verdict.traversed = (forward && at_from.reached()) || (backward && at_to.reached());
  const auto step = [&](bool allowed, const visit& here, const visit& there) {
    if (!allowed || !here.reached()) return;
    if (!there.reached()) {
      verdict.fault = tree_fault::not_spanned;
    } else if (there.level > here.level && there.level - here.level > 1) {
      verdict.fault = tree_fault::level_of_edge;
    }
  };
  step(forward, at_from, at_to);
  if (verdict.fault == tree_fault::none) step(backward, at_to, at_from);
  verdict.confirms_to = forward && at_to.parent == e.from;
  verdict.confirms_from = backward && at_from.parent == e.to;
  return verdict;
}

tree_levels levels_of_tree(std::uint64_t root, std::span<const std::uint64_t> parents) {
  const auto vertices = static_cast<std::uint64_t>(parents.size());
  constexpr std::uint64_t on_path = k_no_level - 1;  // on the path from the current vertex to the root
  tree_levels result{tree_fault::none, root, std::vector<std::uint64_t>(parents.size(), k_no_level)};
  auto& levels = result.levels;
  const auto fail = [&](tree_fault fault, std::uint64_t at) { return tree_levels{fault, at, {}}; };
  if (root >= vertices || parents[root] != root) return fail(tree_fault::root_wrong, root);
  levels[root] = 0;
  std::vector<std::uint64_t> path;
  for (std::uint64_t start = 0; start < vertices; ++start) {
    if (parents[start] == k_no_parent) continue;
    path.clear();
    std::uint64_t v = start;
    while (levels[v] == k_no_level) {
      levels[v] = on_path;
      path.push_back(v);
      const std::uint64_t up = parents[v];
      if (up == v) return fail(tree_fault::own_parent, v);
      if (up != k_no_parent && up >= vertices) return fail(tree_fault::parent_out_of_range, v);
      if (up == k_no_parent || parents[up] == k_no_parent) return fail(tree_fault::parent_unreached, v);
      v = up;
    }
    if (levels[v] == on_path) return fail(tree_fault::cycle, v);
    std::uint64_t level = levels[v];
    for (; !path.empty(); path.pop_back()) levels[path.back()] = ++level;
  }
  return result;
}

tree_verdict validate_tree(std::uint64_t root, std::span<const std::uint64_t> parents,
                           std::span<const std::uint64_t> levels, std::span<const graph::edge> edges, direction way) {
  SHOAL_ASSERT(levels.empty() || levels.size() == parents.size(), "a level for every vertex or for none");
  const auto vertices = static_cast<std::uint64_t>(parents.size());
  tree_verdict verdict;
  const auto fail = [&](tree_fault fault, const std::string& where) {
    if (verdict.fault != tree_fault::none) return;
    verdict.fault = fault;
    verdict.message = fmt::format("{}: {}", where, describe(fault));
    if (const int rule = rule_of(fault); rule != 0) verdict.message += fmt::format(" (rule {})", rule);
  };
  const auto vertex_name = [](std::uint64_t v) { return fmt::format("vertex {}", v); };

  // The parents alone must form a tree, even if levels are given: so rule 1 does not depend on the levels.
  const tree_levels implied = levels_of_tree(root, parents);
  if (implied.fault != tree_fault::none) {
    fail(implied.fault, vertex_name(implied.at));
    return verdict;
  }
  if (levels.empty()) levels = implied.levels;

  const auto at = [&](std::uint64_t v) { return visit{parents[v], levels[v]}; };
  for (std::uint64_t v = 0; v < vertices; ++v) {
    const visit here = at(v);
    const bool ask = needs_parent(v, root, vertices, here);
    const tree_fault fault = check_vertex(v, root, vertices, here, ask ? at(here.parent) : visit{});
    if (fault != tree_fault::none) fail(fault, vertex_name(v));
    if (!here.reached()) continue;
    ++verdict.reached;
    if (here.level != k_no_level) verdict.deepest = std::max(verdict.deepest, here.level);
  }

  std::vector<bool> confirmed(parents.size(), false);
  confirmed[root] = true;
  for (const graph::edge& e : edges) {
    if (e.from >= vertices || e.to >= vertices) {
      fail(tree_fault::edge_out_of_range, fmt::format("edge {} - {}", e.from, e.to));
      continue;
    }
    const edge_verdict seen = check_edge(e, at(e.from), at(e.to), way);
    if (seen.fault != tree_fault::none) fail(seen.fault, fmt::format("edge {} - {}", e.from, e.to));
    if (seen.confirms_from) confirmed[e.from] = true;
    if (seen.confirms_to) confirmed[e.to] = true;
    verdict.traversed += seen.traversed ? 1 : 0;
  }
  for (std::uint64_t v = 0; v < vertices; ++v) {
    if (parents[v] != k_no_parent && !confirmed[v]) fail(tree_fault::no_such_edge, vertex_name(v));
  }
  return verdict;
}

}  // namespace shoal::kernels::bfs
