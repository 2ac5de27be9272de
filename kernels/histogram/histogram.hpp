// SPDX-License-Identifier: Apache-2.0
// Histogram: counts[indices[i]] += 1 for all i. The indices are random, and each node reads those that it holds. This is
// the common measure of small remote updates: bale's histo, and GUPS without its reads.
//   simple   a loop over the indices, with one asynchronous addition each
//   fast     the same over each node's own memory: no access to an index is checked for its owner
// The check needs no second table: each element has a random weight, and the sum of weight times count over the table
// is the sum of the weights over the indices. A wrong table passes with a probability of 2^-64.
// Who may call: tasks; they switch. Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/random/indices.hpp"
#include "shoal/array.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::histogram {

using numbers = array_ref<std::uint64_t>;

inline void simple(const numbers& counts, const numbers& indices) {
  parallel_for(owners_of(indices), indices.size(),
               [counts, indices](std::uint64_t i) { counts.async_add(indices.get(i), 1); });
}

inline void fast(const numbers& counts, const numbers& indices) {
  parallel_for(everywhere, node_count(), [counts, indices](std::uint32_t) {
    const std::span<const std::uint64_t> mine = indices.local();
    parallel_for(range1d(0, mine.size()), [counts, mine](const range1d& part) {
      for (const std::uint64_t i : mine.subspan(part.begin(), part.size())) counts.async_add(i, 1);
    });
  });
}

/// Whether `counts` holds how often each number is among `count` indices, `times` times over.
inline bool is_right(const numbers& counts, std::uint64_t count, std::uint64_t seed, std::uint64_t times = 1) {
  const std::uint64_t size = counts.size();
  const std::uint64_t found = parallel_reduce(
      owners_of(counts), size, std::uint64_t{0},
      [counts](std::uint64_t i) -> std::uint64_t { return counts.get(i) * mix64(i + 1); }, std::plus<>());
  const std::uint64_t wanted = parallel_reduce(
      everywhere, count, std::uint64_t{0},
      [size, seed](std::uint64_t i) -> std::uint64_t { return mix64(random_indices::index_at(seed, i, size) + 1); },
      std::plus<>());
  return found == wanted * times;
}

}  // namespace shoal::kernels::histogram
