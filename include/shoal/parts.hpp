// SPDX-License-Identifier: Apache-2.0
// Loops over the elements of an array where they are, by pieces of plain memory: parts_of(array) as the place.
//   parallel_for(parts_of(a), [](std::uint64_t first, std::span<double> x) {     // elements first, first + 1, ...
//     for (double& one : x) one *= 2;
//   });
//   double sum = parallel_reduce(parts_of(a), 0.0, [](std::uint64_t, std::span<const double> x) {
//     return std::accumulate(x.begin(), x.end(), 0.0); }, std::plus<>());
// Who may call: tasks. The loops switch tasks, and so may the body.
// Guarantees: those of parallel_for(owners_of(a), ...). Each element is in one piece; a node's workers divide its part. A
// piece of a cyclic array has one element, one of a block-cyclic array at most a block. The memory is plain, as that of
// local(): iterations write their own piece, and nobody else meanwhile.
// Shown by tests/cluster/array_stream_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

template <class T>
struct parts_of {
  parts_of(const array_ref<T>& a) noexcept : parts_of(a, 0, a.size()) {}
  parts_of(const global_array<T>& a) noexcept : parts_of(a.ref()) {}
  /// Only elements of [first, last).
  parts_of(const array_ref<T>& a, std::uint64_t from, std::uint64_t to) noexcept : array(a), first(from), last(to) {}
  parts_of(const global_array<T>& a, std::uint64_t from, std::uint64_t to) noexcept : parts_of(a.ref(), from, to) {}

  array_ref<T> array;
  std::uint64_t first;
  std::uint64_t last;

  /// The positions of these elements in this node's part.
  range1d local_positions() const noexcept {
    const auto mine = array.local_range();
    return {mine.below(first), mine.below(std::max(first, last))};
  }
  /// Calls f(index, span) for the pieces at these positions.
  template <class F>
  void for_pieces(const range1d& positions, const F& f) const {
    const auto mine = array.local_range();
    T* const local = array.local().data();
    const bool contiguous = mine.stride == 1;
    for (std::uint64_t k = positions.begin(), n = 0; k < positions.end(); k += n) {
      const std::uint64_t left = positions.end() - k;
      n = contiguous ? left : std::min(left, mine.run - k % mine.run);
      f(mine.index(k), std::span<T>(local + k, static_cast<std::size_t>(n)));
    }
  }
};
template <class T>
parts_of(const array_ref<T>&) -> parts_of<T>;
template <class T>
parts_of(const global_array<T>&) -> parts_of<T>;

/// The options are those of parallel_for(here, range, ...) but for tokens; they travel.
template <class T, class Body, class... Options>
void parallel_for(const parts_of<T>& parts, const Body& body, const Options&... options) {
  parallel_for(everywhere, node_count(), [parts, body, options...](std::uint32_t) {
    parallel_for(
        here, parts.local_positions(), [&](const range1d& part) { parts.for_pieces(part, body); }, options...);
  });
}

/// Combines the values of body(index, span), each node's in any order, then those of the nodes in ascending order.
template <class T, class V, class Body, class Combine>
V parallel_reduce(const parts_of<T>& parts, V identity, const Body& body, const Combine& combine) {
  return parallel_reduce(
      everywhere, node_count(), identity,
      [parts, identity, body, combine](std::uint32_t) {
        return parallel_reduce(
            here, parts.local_positions(), identity,
            [&](const range1d& part, V value) {
              parts.for_pieces(part, [&](std::uint64_t first, std::span<T> piece) {
                value = combine(std::move(value), body(first, piece));
              });
              return value;
            },
            combine);
      },
      combine);
}

}  // namespace shoal
