// SPDX-License-Identifier: Apache-2.0
// Connected components of a random graph with 16 edges per vertex, by labels: a vertex passes its label to its neighbours,
// who keep the least. Rows of neighbours, in both directions, are made outside the timed part. The check: the label of a
// vertex is the least vertex of its component, by sets that are joined. Work: edges. The size is the binary logarithm of
// the number of vertices. Test: tests/problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/problems/random_graph.hpp"

namespace problems::components {

/// Disjoint sets of vertices; the least vertex represents a set.
class sets {
public:
  explicit sets(std::size_t vertices) : parent_(vertices) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t find(std::uint32_t v) noexcept {
    for (; parent_[v] != v; v = parent_[v]) parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::uint32_t a, std::uint32_t b) noexcept {
    a = find(a), b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::uint32_t> labels() {
    for (std::uint32_t v = 0; v < parent_.size(); ++v) parent_[v] = find(v);
    return parent_;
  }

private:
  std::vector<std::uint32_t> parent_;
};

struct problem {
  static constexpr const char* k_name = "components";
  static constexpr const char* k_work_unit = "edge";
  static constexpr std::uint64_t k_size = 17;
  static constexpr std::uint64_t k_test_size = 10;
  using result = std::vector<std::uint32_t>;

  explicit problem(std::uint64_t scale) : edges(random_edges(scale)), vertices(std::size_t{1} << scale) {
    rows = in_rows(edges, vertices, true);
    sets of(vertices);
    for (const random_edge& e : edges) of.join(e.from, e.to);
    expected_ = of.labels();
  }

  bool valid(const result& labels) const { return labels == expected_; }
  std::uint64_t work(const result&) const { return edges.size(); }

  std::vector<random_edge> edges;
  std::size_t vertices;
  rows_of_edges rows;

private:
  std::vector<std::uint32_t> expected_;
};

}  // namespace problems::components
