// SPDX-License-Identifier: Apache-2.0
// Merges several sorted runs that lie one behind the other, with all workers of this process: pairs of runs, then pairs
// of these, each pair in pieces that know where they begin in both runs.
// Who may call: tasks; it may switch. Guarantees: stable: of equal elements those of earlier runs come first. log2(runs)
// passes over the elements. Source: Deo, Jain, Medidi, "An optimal parallel algorithm for merging" (1994).
// Shown by tests/unit/algorithms/comparison_sort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shoal/detail/comparison_sort.hpp"

namespace shoal::detail {

/// How many of the first `count` elements of the merged runs come from `a`.
template <class Key, class Less>
std::size_t share_of_first(const Key* a, std::size_t a_size, const Key* b, std::size_t b_size, std::size_t count,
                           const Less& less) {
  std::size_t low = count > b_size ? count - b_size : 0;
  std::size_t high = std::min(count, a_size);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    // Element `middle` of a is among them unless the last of b that would be instead is less.
    if (less(b[count - middle - 1], a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// `bounds`: of the runs in `data`, and the end. The result is in `spare` if `to_spare`, else in `data`.
template <class Key, class Value, class Less>
void merge_parts(columns<Key, Value> data, columns<Key, Value> spare, std::vector<std::uint64_t> bounds, bool to_spare,
                 const Less& less) {
  constexpr std::size_t k_piece = std::size_t{1} << 15;
  const columns<Key, Value> target = to_spare ? spare : data;
  const std::uint64_t count = bounds.back();
  const std::size_t pieces = (count + k_piece - 1) / k_piece;
  while (bounds.size() > 2) {
    // A piece is a part of the output; it may reach over several pairs.
    parallel_for(
        pieces,
        [&](std::size_t piece) {
          std::uint64_t at = piece * k_piece;
          const std::uint64_t end = std::min<std::uint64_t>(at + k_piece, count);
          auto pair =
              static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), at) - bounds.begin() - 1) / 2 * 2;
          for (; at < end; pair += 2) {
            const std::uint64_t first = bounds[pair];
            const std::uint64_t middle = bounds[pair + 1];
            const std::uint64_t last = pair + 2 < bounds.size() ? bounds[pair + 2] : middle;
            const std::uint64_t stop = std::min(end, last);
            if (at >= stop) continue;
            const Key* const a = data.keys + first;
            const Key* const b = data.keys + middle;
            const std::size_t begin_a = share_of_first(a, middle - first, b, last - middle, at - first, less);
            const std::size_t end_a = share_of_first(a, middle - first, b, last - middle, stop - first, less);
            const std::size_t begin_b = at - first - begin_a;
            const std::size_t end_b = stop - first - end_a;
            merge_runs(data.from(first + begin_a), end_a - begin_a, data.from(middle + begin_b), end_b - begin_b,
                       spare.from(at), less);
            at = stop;
          }
        },
        simple_partitioner{1});
    std::vector<std::uint64_t> merged;
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) merged.push_back(bounds[i]);
    merged.push_back(count);
    bounds = std::move(merged);
    std::swap(data, spare);
  }
  if (data.keys == target.keys) return;
  parallel_for(
      pieces,
      [&](std::size_t piece) {
        const std::uint64_t at = piece * k_piece;
        data.from(at).copy_to(target.from(at), std::min<std::uint64_t>(k_piece, count - at));
      },
      simple_partitioner{1});
}

}  // namespace shoal::detail
