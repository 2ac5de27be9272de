// SPDX-License-Identifier: Apache-2.0
// Random square sparse matrices, as generators for global_graph::generate(): entry (r, c) is an arc from r to c.
//   const matrix a = random_matrix::make(random_matrix::uniform{n, 10 * n, seed});
// Entries are drawn independently; equal ones become one, so a matrix has a few entries less than were asked for.
// Who may call: make(): tasks, it switches; the generators: anyone. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/random/indices.hpp"
#include "kernels/randperm/randperm.hpp"
#include "shoal/graph.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::random_matrix {

using matrix = global_graph<std::uint32_t>;
using matrix_ref = graph_ref<std::uint32_t>;

/// Entries in any place, as bale's Erdos-Renyi matrices.
struct uniform {
  std::uint64_t rows;
  std::uint64_t entries;
  std::uint64_t seed;

  std::uint64_t vertices() const noexcept { return rows; }
  std::uint64_t edges() const noexcept { return entries; }
  void generate(std::uint64_t first, std::span<graph::edge> some) const {
    for (std::uint64_t k = 2 * first; graph::edge & e : some)
      e = {random_indices::index_at(seed, k++, rows), random_indices::index_at(seed, k++, rows)};
  }
};

/// The whole diagonal, the other entries above it.
struct upper_triangular {
  std::uint64_t rows;
  std::uint64_t entries;  // at least `rows`
  std::uint64_t seed;

  std::uint64_t vertices() const noexcept { return rows; }
  std::uint64_t edges() const noexcept { return entries; }
  void generate(std::uint64_t first, std::span<graph::edge> some) const {
    const uniform any{rows, entries, seed};
    any.generate(first, some);
    for (std::uint64_t k = first; graph::edge & e : some) {
      e = k < rows ? graph::edge{k, k} : graph::edge{std::min(e.from, e.to), std::max(e.from, e.to)};
      ++k;
    }
  }
};

template <class Generator>
matrix make(const Generator& generator) {
  graph_options o;  // rows are ascending
  o.way = graph::direction::forward;
  o.drop_self_loops = false;
  return matrix::generate(generator, o);
}

/// A random permutation of the numbers of rows or columns.
inline global_array<std::uint32_t> labels(std::uint64_t rows, std::uint64_t seed) {
  const global_array<std::uint64_t> numbers(rows);
  randperm::fast(numbers, seed);
  global_array<std::uint32_t> made(rows);
  parallel_for(owners_of(made), rows, [from = numbers.ref(), to = made.ref()](std::uint64_t i) {
    to.put(i, static_cast<std::uint32_t>(from.get(i)));
  });
  return made;
}

}  // namespace shoal::kernels::random_matrix
