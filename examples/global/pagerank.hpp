// SPDX-License-Identifier: Apache-2.0
// PageRank, a fixed number of rounds, as one would write it first: a vertex adds its share to its successors (push), or
// reads the shares of its predecessors (pull). `rank` is like the graph's degrees; no vertex loses rank in rounding.
#pragma once

#include <cstdint>
#include <functional>

#include "shoal/graph.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/shoal.hpp"

namespace examples {

/// `successors`: rows of out-neighbours.
inline void push_ranks(const shoal::graph_ref<>& successors, const shoal::array_ref<double>& rank, unsigned rounds) {
  const std::uint64_t n = successors.vertices();
  const double base = 0.15 / static_cast<double>(n);
  const shoal::global_array<double> next(n, shoal::like(rank));
  rank.fill(1.0 / static_cast<double>(n));
  next->fill(base);
  for (unsigned round = 0; round < rounds; ++round) {
    shoal::parallel_for(shoal::owners_of(rank), n, [=, g = successors, next = next.ref()](std::uint64_t v) {
      const auto row = g.neighbours(v);
      const double share = 0.85 * rank.get(v) / static_cast<double>(row.size());
      for (const auto u : row) next.async_add(u, share);
    });
    shoal::parallel_for(shoal::owners_of(rank), n,
                        [=, next = next.ref()](std::uint64_t v) { rank.put(v, next.exchange(v, base)); });
  }
}

/// `halo`: of the rows of in-neighbours. `out_degrees`: of the same vertices.
inline void pull_ranks(const shoal::graph_halo<>& halo, const shoal::array_ref<std::uint32_t>& out_degrees,
                       const shoal::array_ref<double>& rank, unsigned rounds) {
  const shoal::global_array<double> shares = halo.values<double>();
  shoal::spmd([=, h = halo.ref(), shares = shares.ref()](shoal::team& t) {
    const auto rows = h.local();
    const auto mine = rank.local();
    const auto share = shares.local();
    const auto degree = out_degrees.local();
    const double n = static_cast<double>(rank.size());
    shoal::parallel_for(shoal::here, 0, rows.own, [&](std::uint64_t i) { mine[i] = 1 / n; });
    for (unsigned round = 0; round < rounds; ++round) {
      shoal::parallel_for(shoal::here, 0, rows.own,
                          [&](std::uint64_t i) { share[i] = degree[i] == 0 ? 0 : 0.85 * mine[i] / degree[i]; });
      h.exchange(t, shares);
      shoal::parallel_for(shoal::here, 0, rows.own, [&](std::uint64_t i) {
        double sum = 0.15 / n;
        for (const auto place : rows.row(i)) sum += share[place];
        mine[i] = sum;
      });
    }
  });
}

}  // namespace examples
