// SPDX-License-Identifier: Apache-2.0
// PageRank of a random graph with 16 edges per vertex, 10 rounds, damping 0.85. The graph's rows of in-neighbours, or the
// runtime's own form of them, are made outside the timed part. The check: the ranks are those of a serial program that
// pulls. Work: edges times rounds. The size is the binary logarithm of the number of vertices.
// Source: Page, Brin, Motwani, Winograd (1999). Test: tests/problems.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/problems/random_graph.hpp"

namespace problems::pagerank {

inline constexpr unsigned k_rounds = 10;
inline constexpr double k_damping = 0.85;

/// One vertex of a round.
inline double pulled(const rows_of_edges& in, const std::vector<double>& share, std::size_t v) {
  double sum = (1 - k_damping) / static_cast<double>(in.size());
  for (const std::uint32_t u : in.row(v)) sum += share[u];
  return sum;
}
inline double share_of(double rank, std::uint32_t degree) { return degree == 0 ? 0 : k_damping * rank / degree; }

struct problem {
  static constexpr const char* k_name = "pagerank";
  static constexpr const char* k_work_unit = "edge";
  static constexpr std::uint64_t k_size = 17;
  static constexpr std::uint64_t k_test_size = 10;
  using result = std::vector<double>;

  explicit problem(std::uint64_t scale)
      : edges(random_edges(scale)), vertices(std::size_t{1} << scale), out_degree(vertices) {
    for (const random_edge& e : edges) ++out_degree[e.from];
    in = in_rows(edges, vertices, false);
    expected_.assign(vertices, 1 / static_cast<double>(vertices));
    std::vector<double> share(vertices);
    for (unsigned round = 0; round < k_rounds; ++round) {
      for (std::size_t v = 0; v < vertices; ++v) share[v] = share_of(expected_[v], out_degree[v]);
      for (std::size_t v = 0; v < vertices; ++v) expected_[v] = pulled(in, share, v);
    }
  }

  bool valid(const result& rank) const {
    if (rank.size() != vertices) return false;
    for (std::size_t v = 0; v < vertices; ++v)
      if (!(std::abs(rank[v] - expected_[v]) <= 1e-9 * expected_[v])) return false;
    return true;
  }
  std::uint64_t work(const result&) const { return edges.size() * k_rounds; }

  std::vector<random_edge> edges;
  std::size_t vertices;
  std::vector<std::uint32_t> out_degree;
  rows_of_edges in;

private:
  std::vector<double> expected_;
};

}  // namespace problems::pagerank
