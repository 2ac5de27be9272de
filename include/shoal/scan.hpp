// SPDX-License-Identifier: Apache-2.0
// Prefix sums of a global array, in place, for any associative operation.
//   shoal::inclusive_scan(a, std::plus<>{});           a[i] = a[0] + ... + a[i]
//   shoal::exclusive_scan(a, std::plus<>{});           a[i] = a[0] + ... + a[i - 1]; a[0] = 0
//   shoal::inclusive_scan(a, maximum, std::int64_t{INT64_MIN});
// combine(x, y) is associative, need not commute, and is trivially copyable (all nodes get a copy). `identity` leaves
// every value as it is. Who may call: tasks, while no other task uses the elements. Both switch tasks.
// Complexity: each element is combined twice; O(log nodes) messages per node. Cyclic and block-cyclic arrays on several
// nodes are copied to equal blocks and back. Errors: shoal::error (out_of_memory); then some elements may have changed.
// Source: Blelloch, "Prefix sums and their applications" (1990). Shown by tests/cluster/algorithms_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "shoal/detail/block_division.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/on.hpp"
#include "shoal/team.hpp"

namespace shoal {

namespace detail {

/// A member's part: the combination of each block, of the parts before, then each block from its begin on.
template <bool Inclusive, class T, class Combine>
void scan_part(team& parts, std::span<T> own, const Combine& combine, const T& identity) {
  constexpr std::size_t k_least_block = std::size_t{1} << 14;
  const block_division division(own.size(), k_least_block, worker_count());
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): a vector of bool has no elements
  const auto begins = std::make_unique<T[]>(division.blocks);
  division.run([&](std::size_t block) {
    T sum = identity;
    for (const T& x : own.subspan(division.begin(block), division.size(block))) sum = combine(sum, x);
    begins[block] = sum;
  });
  T all = identity;
  for (std::size_t b = 0; b < division.blocks; ++b) all = combine(all, begins[b]);
  T before = parts.exscan(all, combine, identity);
  for (std::size_t b = 0; b < division.blocks; ++b) {
    const T next = combine(before, begins[b]);
    begins[b] = std::exchange(before, next);
  }
  division.run([&](std::size_t block) {
    T sum = begins[block];
    for (T& x : own.subspan(division.begin(block), division.size(block))) {
      const T next = combine(sum, x);
      x = Inclusive ? next : sum;
      sum = next;
    }
  });
}

template <bool Inclusive, class T, class Combine>
void scan_array(const array_ref<T>& array, const Combine& combine, const T& identity) {
  static_assert(std::is_invocable_r_v<T, const Combine&, T, T>, "the operation makes one value of two");
  if (array.empty()) return;
  const parts_in_order<T> ordered(array, node_count() > 1);
  over_parts(ordered.ref().layout(), [a = ordered.ref(), combine, identity](team& parts) {
    scan_part<Inclusive>(parts, a.local(), combine, identity);
  });
  ordered.put_back();
}

}  // namespace detail

template <detail::global_elements Array, class Combine>
void inclusive_scan(const Array& array, const Combine& combine,
                    const detail::element_in<Array>& identity = detail::element_in<Array>{}) {
  detail::scan_array<true>(detail::handle_of(array), combine, identity);
}
template <detail::global_elements Array, class Combine>
void exclusive_scan(const Array& array, const Combine& combine,
                    const detail::element_in<Array>& identity = detail::element_in<Array>{}) {
  detail::scan_array<false>(detail::handle_of(array), combine, identity);
}

}  // namespace shoal
