// SPDX-License-Identifier: Apache-2.0
// PageRank in two forms. The simple one pushes each vertex's share to its successors. The fast one pulls the shares of
// the predecessors; each node gets the shares of others' vertices once per round, in bulk (shoal/graph_halo.hpp).
// Who may call: a task; they switch. Vertices without successors pass nothing on, so the sum may be below 1.
// Source: Page, Brin, Motwani, Winograd (1999); Beamer, Asanovic, Patterson, "The GAP benchmark suite" (2015).
// Test: tests/cluster/kernels_test.cpp; measured by `shoal pagerank`.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/reference/whole_graph.hpp"
#include "shoal/graph.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::pagerank {

struct options {
  double damping = 0.85;
  double tolerance = 1e-4;  // ends when the ranks change by less, all together
  std::uint64_t most_rounds = 20;
};

/// Returns the number of rounds. `successors`: rows of out-neighbours; `ranks` is like its degrees.
template <class Id>
std::uint64_t simple(const graph_ref<Id>& successors, const array_ref<double>& ranks, const options& o) {
  const std::uint64_t n = successors.vertices();
  const double base = (1 - o.damping) / static_cast<double>(n);
  global_array<double> next(n, like(ranks));
  ranks.fill(1.0 / static_cast<double>(n));
  next->fill(base);
  for (std::uint64_t round = 1;; ++round) {
    parallel_for(owners_of(ranks), n, [g = successors, ranks, next = next.ref(), o](std::uint64_t v) {
      const auto row = g.neighbours(v);
      const double share = o.damping * ranks.get(v) / static_cast<double>(row.size());
      for (const Id u : row) next.async_add(u, share);
    });
    const double change = parallel_reduce(
        owners_of(ranks), n, 0.0,
        [ranks, next = next.ref(), base](std::uint64_t v) {
          const double rank = next.exchange(v, base);
          return std::abs(ranks.exchange(v, rank) - rank);
        },
        std::plus<>());
    if (change < o.tolerance || round == o.most_rounds) return round;
  }
}

/// `halo`: of the rows of in-neighbours; `out_degrees` of the same vertices; `shares`: halo.values<float>().
template <class Id>
std::uint64_t fast(const halo_ref<Id>& halo, const array_ref<std::uint32_t>& out_degrees,
                   const array_ref<float>& shares, const array_ref<double>& ranks, const options& o) {
  const global_array<std::uint64_t> rounds(node_count());
  spmd([=, rounds = rounds.ref()](team& t) {
    const auto rows = halo.local();
    const auto rank = ranks.local();
    const auto share = shares.local();
    const auto degree = out_degrees.local();
    const double n = static_cast<double>(ranks.size());
    parallel_for(here, 0, rows.own, [&](std::uint64_t i) { rank[i] = 1 / n; });
    std::uint64_t round = 0;
    for (double change = o.tolerance; change >= o.tolerance && round < o.most_rounds; ++round) {
      parallel_for(here, 0, rows.own, [&](std::uint64_t i) {
        share[i] = degree[i] == 0 ? 0 : static_cast<float>(o.damping * rank[i] / degree[i]);
      });
      halo.exchange(t, shares);
      const double mine = parallel_reduce(
          here, 0, rows.own, 0.0,
          [&](std::uint64_t i) {
            double sum = (1 - o.damping) / n;
            for (const Id place : rows.row(i)) sum += share[place];
            return std::abs(std::exchange(rank[i], sum) - sum);
          },
          std::plus<>());
      change = t.all_reduce(mine, std::plus<>());
    }
    rounds.local()[0] = round;
  });
  return rounds->get(0);
}

/// What is wrong with the ranks after so many rounds, compared with a sequential program; empty if nothing.
template <class Id>
std::string fault_of(const graph_ref<Id>& successors, const array_ref<double>& ranks, std::uint64_t rounds,
                     const options& o) {
  const reference::whole_graph<Id> g(successors);
  const std::vector<double> found = reference::whole_array(ranks);
  const auto n = static_cast<double>(g.vertices());
  std::vector<double> rank(g.vertices(), 1 / n);
  std::vector<double> next(g.vertices());
  for (; rounds > 0; --rounds) {
    std::fill(next.begin(), next.end(), (1 - o.damping) / n);
    for (std::uint64_t v = 0; v < g.vertices(); ++v)
      for (const Id u : g.row(v)) next[u] += o.damping * rank[v] / static_cast<double>(g.degree(v));
    std::swap(rank, next);
  }
  for (std::uint64_t v = 0; v < g.vertices(); ++v)
    if (!(std::abs(found[v] - rank[v]) <= 1e-5 * rank[v]))
      return "vertex " + std::to_string(v) + " has rank " + std::to_string(found[v]) + " instead of " +
             std::to_string(rank[v]);
  return {};
}

}  // namespace shoal::kernels::pagerank
