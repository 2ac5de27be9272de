// SPDX-License-Identifier: Apache-2.0
// What a distributed graph is built from (graph_memory.hpp): an array of edges, or the rows of another graph; and the
// numbers by which it is relabelled.
// Who may call: tasks; functions over all nodes switch. Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/graph_rows.hpp"
#include "shoal/graph/edge.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

/// The arcs of edges: in the row of `from`, of `to`, or both (a self loop once).
template <class Edge>
struct edge_array {
  array_ref<Edge> edges;
  graph::direction way;
  bool drop_self_loops;

  std::uint64_t size() const noexcept { return edges.local_range().count; }
  template <class F>
  void arcs(std::uint64_t begin, std::uint64_t end, const F& f) const {
    for (const Edge& e : edges.local().subspan(begin, end - begin)) {
      const bool loop = e.from == e.to;
      if (loop && drop_self_loops) continue;
      const auto& weight = weight_of(e);
      if (way != graph::direction::reverse) f(e.from, e.to, weight);
      if (way == graph::direction::reverse || (way == graph::direction::both && !loop)) f(e.to, e.from, weight);
    }
  }

private:
  static decltype(auto) weight_of(const Edge& e) noexcept {
    if constexpr (requires { e.weight; })
      return (e.weight);
    else
      return no_weight{};
  }
};

/// The arcs of a graph, turned round.
template <class Id, class Weight>
struct turned_rows {
  graph_rows<Id, Weight> rows;

  std::uint64_t size() const noexcept { return rows.degrees.local_range().count; }
  template <class F>
  void arcs(std::uint64_t begin, std::uint64_t end, const F& f) const {
    const auto own = rows.local();
    for (std::uint64_t v = own.first + begin; v < own.first + end; ++v) {
      const auto row = own.neighbours(v);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if constexpr (std::is_void_v<Weight>)
          f(row[i], v, no_weight{});
        else
          f(row[i], v, own.weights(v)[i]);
      }
    }
  }
};

/// The arcs of a graph without weights, with weights.
template <class Id, class F>
struct weighted_rows {
  graph_rows<Id, void> rows;
  F weight_of;

  std::uint64_t size() const noexcept { return rows.degrees.local_range().count; }
  template <class G>
  void arcs(std::uint64_t begin, std::uint64_t end, const G& f) const {
    const auto own = rows.local();
    for (std::uint64_t v = own.first + begin; v < own.first + end; ++v)
      for (const Id u : own.neighbours(v)) f(v, u, weight_of(v, u));
  }
};

/// All arcs of a graph, each at the owner of its row, with the new numbers of both ends.
template <class Id, class Weight>
global_array<graph::arc<Id, Weight>> relabelled_arcs(const graph_rows<Id, Weight>& g, const array_ref<Id>& rows,
                                                     const array_ref<Id>& columns) {
  using arc = graph::arc<Id, Weight>;
  global_array<std::uint64_t> counts(node_count());
  spmd([g, counts = counts.ref()](team&) { counts.local()[0] = g.local().arcs(); });
  std::vector<std::uint64_t> bounds(node_count() + std::size_t{1});
  counts->get(0, std::span(bounds).subspan(1));
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  global_array<arc> arcs(bounds.back(),
                         bounds.back() == 0 ? distribution_plan(distribution::partition) : blocks_at(bounds));
  spmd([g, rows, columns, arcs = arcs.ref()](team&) {
    const auto own = g.local();
    const auto out = arcs.local();
    parallel_for(here, own.first, own.last, [&](std::uint64_t v) {
      const Id label = rows.get(v);
      std::uint64_t at = own.offsets[v - own.first];
      const auto row = own.neighbours(v);
      for (std::size_t i = 0; i < row.size(); ++i, ++at) {
        out[at].from = label;
        if constexpr (!std::is_void_v<Weight>) out[at].weight = own.weights(v)[i];
        columns.async_get(row[i], &out[at].to);
      }
    });
  });
  return arcs;
}

/// How many vertices of each degree a node has; each node then takes the numbers of its vertices of one degree at once.
template <class Id>
global_array<Id> labels_by_degree(const array_ref<std::uint32_t>& degrees) {
  global_array<Id> labels(degrees.size(), like(degrees));
  if (degrees.empty()) return labels;
  const auto longest = [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); };
  const std::uint32_t most = parallel_reduce(
      owners_of(degrees), degrees.size(), std::uint32_t{0},
      [degrees](std::uint64_t v) { return degrees.local()[v - degrees.local_range().first]; }, longest);
  global_array<std::uint64_t> next(std::uint64_t{most} + 1);  // per degree: vertices, then the next number
  spmd([degrees, labels = labels.ref(), next = next.ref()](team& t) {
    const auto own = degrees.local();
    std::vector<std::uint64_t> order(own.size());
    for (std::uint64_t v = 0; v < own.size(); ++v) order[v] = v;
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint64_t v) { return own[v]; });
    const auto each_degree = [&](const auto& f) {  // f(degree, begin, end) for the vertices order[begin, end)
      for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && own[order[end]] == own[order[begin]]) ++end;
        f(own[order[begin]], begin, end);
      }
    };
    each_degree([&](std::uint32_t degree, std::size_t begin, std::size_t end) { next.async_add(degree, end - begin); });
    t.barrier();
    if (t.rank() == 0) {  // a degree's first number: how many vertices have more
      constexpr std::uint64_t k_part = 1 << 16;
      std::vector<std::uint64_t> some;
      std::uint64_t sum = 0;
      for (std::uint64_t end = next.size(); end > 0; end -= some.size()) {
        some.resize(std::min(k_part, end));
        next.get(end - some.size(), std::span(some));
        for (std::size_t d = some.size(); d-- > 0;) sum += std::exchange(some[d], sum);
        next.put(end - some.size(), std::span<const std::uint64_t>(some));
      }
    }
    t.barrier();
    each_degree([&](std::uint32_t degree, std::size_t begin, std::size_t end) {
      std::uint64_t number = next.fetch_add(degree, end - begin);
      for (std::size_t i = begin; i < end; ++i) labels.local()[order[i]] = static_cast<Id>(number++);
    });
  });
  return labels;
}

}  // namespace shoal::detail
