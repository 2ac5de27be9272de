// SPDX-License-Identifier: Apache-2.0
// Shortest distances from one vertex, over weights that are not negative, in two forms. Both postpone vertices that are
// more than delta farther away than the nearest that is left, so that few are passed on twice (delta stepping).
//   simple   rounds over all vertices; distances are lowered by async_min
//   fast     fast.hpp
// The distance of a vertex that cannot be reached is k_far. Who may call: a task; they switch.
// Source: Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (2003).
// Test: tests/cluster/kernels_test.cpp; measured by `shoal sssp`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "kernels/reference/whole_graph.hpp"
#include "shoal/graph.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::sssp {

template <class Weight>
inline constexpr Weight k_far = std::numeric_limits<Weight>::max();

/// The weight of an edge of a graph that has none: 1 to 255, the same in both directions.
struct random_weight {
  static constexpr std::uint32_t k_most = 255;
  std::uint64_t seed = 1;

  std::uint32_t operator()(std::uint64_t v, std::uint64_t u) const noexcept {
    const auto [low, high] = std::minmax(v, u);
    return 1 + static_cast<std::uint32_t>(mix64(splitmix64::at(seed, low) + high) % k_most);
  }
};

/// Returns the number of rounds. `distances` is like the graph's degrees.
template <class Id, class Weight>
std::uint64_t simple(const graph_ref<Id, Weight>& g, const array_ref<Weight>& distances, std::uint64_t source,
                     Weight delta) {
  constexpr Weight far = k_far<Weight>;
  const global_array<Weight> passed(g.vertices(), like(distances));  // the distance that a vertex has passed on
  distances.fill(far);
  passed->fill(far);
  distances.put(source, 0);
  Weight limit = delta;
  for (std::uint64_t rounds = 1;; ++rounds) {
    const Weight nearest = parallel_reduce(
        owners_of(distances), g.vertices(), far,
        [=, passed = passed.ref()](std::uint64_t v) -> Weight {
          const Weight distance = distances.get(v);
          if (distance == passed.get(v)) return far;
          if (distance >= limit) return distance;
          passed.put(v, distance);
          const auto row = g.neighbours(v);
          const auto weights = g.weights(v);
          for (std::size_t i = 0; i < row.size(); ++i) distances.async_min(row[i], distance + weights[i]);
          return distance;
        },
        [](Weight a, Weight b) { return std::min(a, b); });
    if (nearest == far) return rounds;
    if (nearest >= limit) limit = nearest + delta;
  }
}

/// How many arcs lead out of the vertices that were reached.
template <class Id, class Weight>
std::uint64_t arcs_reached(const graph_ref<Id, Weight>& g, const array_ref<Weight>& distances) {
  return parallel_reduce(
      owners_of(distances), g.vertices(), std::uint64_t{0},
      [distances, degrees = g.degrees()](std::uint64_t v) -> std::uint64_t {
        return distances.get(v) == k_far<Weight> ? 0 : degrees.get(v);
      },
      std::plus<>());
}

/// What is wrong with the distances, compared with those of Dijkstra's algorithm; empty if nothing. Both add the same
/// weights in the same order along a path, so that floating-point distances are equal, too.
template <class Id, class Weight>
std::string fault_of(const graph_ref<Id, Weight>& all, const array_ref<Weight>& distances, std::uint64_t source) {
  const reference::whole_graph<Id, Weight> g(all);
  const std::vector<Weight> found = reference::whole_array(distances);
  std::vector<Weight> right(g.vertices(), k_far<Weight>);
  using entry = std::pair<Weight, std::uint64_t>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> next;
  right[source] = 0;
  next.emplace(Weight{0}, source);
  while (!next.empty()) {
    const auto [distance, v] = next.top();
    next.pop();
    if (distance > right[v]) continue;
    for (std::size_t i = 0; i < g.degree(v); ++i) {
      const std::uint64_t u = g.row(v)[i];
      const Weight longer = distance + g.row_weights(v)[i];
      if (longer < right[u]) next.emplace(right[u] = longer, u);
    }
  }
  for (std::uint64_t v = 0; v < g.vertices(); ++v)
    if (found[v] != right[v])
      return "vertex " + std::to_string(v) + " has distance " + std::to_string(found[v]) + " instead of " +
             std::to_string(right[v]);
  return {};
}

}  // namespace shoal::kernels::sssp
