// SPDX-License-Identifier: Apache-2.0
// The number of triangles of an undirected graph (rows in both directions, ascending, without duplicates and self
// loops), in two forms.
//   simple   for each edge, the common neighbours that are less than both ends, by merging two rows
//   fast     fast.hpp: on a graph whose rows name only neighbours of higher degree
// Who may call: a task; they switch. Source: Schank, Wagner, "Finding, counting and listing all triangles in large
// graphs" (2005). Test: tests/cluster/kernels_test.cpp; measured by `shoal tc`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/reference/whole_graph.hpp"
#include "shoal/graph.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::tc {

/// How many numbers below `end` two ascending rows have in common.
template <class Id>
std::uint64_t common_below(std::span<const Id> a, std::span<const Id> b, Id end) {
  std::uint64_t count = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size() && a[i] < end && b[k] < end;) {
    if (a[i] == b[k]) ++count;
    const bool next_a = a[i] <= b[k];
    const bool next_b = b[k] <= a[i];
    i += next_a ? 1 : 0;
    k += next_b ? 1 : 0;
  }
  return count;
}

template <class Id>
std::uint64_t simple(const graph_ref<Id>& g) {
  return parallel_reduce(
      owners_of(g.degrees()), g.vertices(), std::uint64_t{0},
      [g](std::uint64_t v) {
        std::uint64_t count = 0;
        std::vector<Id> room;
        for (const Id u : g.neighbours(v)) {
          if (u >= v) break;
          count += common_below(g.neighbours(v), g.row(u, room), u);
        }
        return count;
      },
      std::plus<>());
}

/// What is wrong with the number, compared with a sequential count that marks the neighbours of one vertex after the
/// other and looks for the ends of their edges among them; empty if nothing.
template <class Id>
std::string fault_of(const graph_ref<Id>& all, std::uint64_t found) {
  const reference::whole_graph<Id> g(all);
  std::vector<std::uint64_t> last(g.vertices(), g.vertices());  // the vertex whose neighbour it was found to be
  std::uint64_t count = 0;
  const auto is_before = [&](std::uint64_t a, std::uint64_t b) {
    return g.degree(a) != g.degree(b) ? g.degree(a) < g.degree(b) : a < b;
  };
  for (std::uint64_t v = 0; v < g.vertices(); ++v) {
    for (const Id u : g.row(v)) last[u] = v;
    for (const Id u : g.row(v)) {
      if (!is_before(u, v)) continue;
      for (const Id w : g.row(u)) count += is_before(w, u) && last[w] == v ? 1 : 0;
    }
  }
  return count == found ? "" : std::to_string(found) + " triangles were found instead of " + std::to_string(count);
}

}  // namespace shoal::kernels::tc
