// SPDX-License-Identifier: Apache-2.0
// Generated graphs whose edges depend only on (parameters, index): any node can generate any part, and the whole graph
// is the same for every division. Every random number is a hash of seed, edge and level ("counter-based"); there is no
// generator state.
//   kronecker: the graph of Graph500: 2^scale vertices, A=0.57 B=0.19 C=0.19 D=0.05 per level, labels permuted. The
//   order of edges is not permuted, because each edge is drawn independently.
//   uniform:   both ends of every edge drawn uniformly (Erdos-Renyi with repetitions).
// Both are undirected and may have self loops and duplicates. Their edges differ from those of other generators.
// Who may call: any thread, concurrently; never switches tasks, never allocates.
// Source: Graph500 specification 2.0, section 3; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
// Test: tests/unit/graph/kronecker_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "shoal/graph/edge.hpp"

namespace shoal::graph {

/// A pseudo-random bijection of [0, 2^bits), chosen by the seed. Each round multiplies by an odd number modulo 2^bits
/// (carries go up), xors the upper half onto the lower (carries go down), and adds. Each step is invertible, so the
/// whole is a bijection.
class vertex_permutation {
public:
  vertex_permutation(int bits, std::uint64_t seed) noexcept;

  std::uint64_t operator()(std::uint64_t x) const noexcept {
    for (const round& r : rounds_) {
      x = (x * r.factor + r.summand) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

private:
  struct round {
    std::uint64_t factor;
    std::uint64_t summand;
  };
  round rounds_[4];
  std::uint64_t mask_;
  int shift_;
};

class kronecker {
public:
  static constexpr int k_largest_scale = 48;

  /// Throws invalid_argument for invalid sizes.
  kronecker(int scale, std::uint64_t edge_factor, std::uint64_t seed);

  std::uint64_t vertices() const noexcept { return std::uint64_t{1} << scale_; }
  std::uint64_t edges() const noexcept { return vertices() * edge_factor_; }

  edge at(std::uint64_t index) const noexcept;

  /// Edges [first, first + out.size()), which must exist.
  void generate(std::uint64_t first, std::span<edge> out) const noexcept;

private:
  int scale_;
  std::uint64_t edge_factor_;
  std::uint64_t seed_;
  vertex_permutation permute_;
};

class uniform {
public:
  uniform(std::uint64_t vertices, std::uint64_t edges, std::uint64_t seed);

  std::uint64_t vertices() const noexcept { return vertices_; }
  std::uint64_t edges() const noexcept { return edges_; }

  edge at(std::uint64_t index) const noexcept;
  void generate(std::uint64_t first, std::span<edge> out) const noexcept;

private:
  std::uint64_t vertices_;
  std::uint64_t edges_;
  std::uint64_t seed_;
};

/// All edges of a generated graph, for small graphs.
template <class Generator>
edge_list generate_all(const Generator& generator) {
  edge_list result;
  result.vertices = generator.vertices();
  result.edges = generator.edges();
  result.list.resize(generator.edges());
  generator.generate(0, result.list);
  return result;
}

}  // namespace shoal::graph
