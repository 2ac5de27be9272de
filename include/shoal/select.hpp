// SPDX-License-Identifier: Apache-2.0
// Elements of a global array, chosen and moved together in place, in the order in which they were.
//   const std::uint64_t n = shoal::unique(sorted);          elements [0, n): of equal neighbours the first one
//   const std::uint64_t n = shoal::partition(a, [](double x) { return x < 0; });    [0, n) are negative, others not
// What unique() leaves behind n has no meaning; the array keeps its size and distribution.
// The functions travel: trivially copyable; several workers call them at once, once for each element; they do not wait.
// Who may call: tasks, while no other task uses the elements. Switches tasks.
// Complexity: two passes over the elements; each crosses nodes at most once, in bulk; O(log nodes) other messages.
// Memory: as many elements again (cyclic and block-cyclic arrays on several nodes: twice).
// Errors: shoal::error (out_of_memory), perhaps as a remote_error, before anything has changed.
// Source: Blelloch, "Prefix sums and their applications" (1990). Shown by tests/cluster/algorithms_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "shoal/detail/block_division.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/detail/scratch_memory.hpp"
#include "shoal/on.hpp"
#include "shoal/team.hpp"

namespace shoal {

namespace detail {

/// A member's part. chosen(k): of local element k. The rest follows the chosen ones if `KeepRest`. Returns how many are
/// chosen on all members.
template <bool KeepRest, class T, class Chosen>
std::uint64_t select_part(team& parts, const array_ref<T>& a, const Chosen& chosen) {
  constexpr std::size_t k_least_block = std::size_t{1} << 14;
  const std::span<const T> own = a.local();
  const block_division division(own.size(), k_least_block, worker_count());
  scratch_memory room(scratch_memory::bytes_for<T>(own.size()), "moving elements together");
  T* const copies = room.take<T>(own.size());
  std::vector<std::uint64_t> before(division.blocks + 1);  // first the number of each block
  // The chosen ones of a block from its begin on, the others from its end backwards.
  division.run([&](std::size_t block) {
    T* const begin = copies + division.begin(block);
    T* front = begin;
    T* const end = begin + division.size(block);
    T* back = end;
    for (std::size_t k = division.begin(block); k < division.begin(block + 1); ++k) {
      if (chosen(k))
        *front++ = own[k];
      else if constexpr (KeepRest)
        *--back = own[k];
    }
    if constexpr (KeepRest) std::reverse(back, end);
    before[block] = static_cast<std::uint64_t>(front - begin);
  });
  std::uint64_t mine = 0;
  for (std::uint64_t& b : before) mine += std::exchange(b, mine);
  const std::uint64_t earlier = parts.exscan(mine, std::plus<>{});
  const std::uint64_t all = parts.all_reduce(mine, std::plus<>{});  // all members have read: from here on elements move
  const std::uint64_t first = a.local_range().first;
  division.run([&](std::size_t block) {
    const std::span<const T> copied(copies + division.begin(block), division.size(block));
    const std::uint64_t n = before[block + 1] - before[block];
    a.async_put(earlier + before[block], copied.first(n));
    if constexpr (KeepRest)
      a.async_put(all + (first - earlier) + (division.begin(block) - before[block]), copied.subspan(n));
  });
  return all;
}

}  // namespace detail

/// equal(a, b): an equivalence. Of each run of equal elements the first one stays.
template <detail::global_elements Array, class Equal = std::equal_to<>>
requires std::predicate < const Equal&, const detail::element_in<Array>
&, const detail::element_in<Array>& > std::uint64_t unique(const Array& array, const Equal& equal = {}) {
  using element = detail::element_in<Array>;
  if (array.size() == 0) return 0;
  const detail::parts_in_order<element> ordered(detail::handle_of(array), node_count() > 1);
  const std::uint64_t left =
      detail::over_parts(ordered.ref().layout(), [a = ordered.ref(), equal](team& parts) -> std::uint64_t {
        const std::span<const element> own = a.local();
        const std::uint64_t first = a.local_range().first;
        const bool follows = !own.empty() && first > 0;
        const element last_before = follows ? a.get(first - 1) : element{};
        return detail::select_part<false>(parts, a, [&](std::size_t k) {
          return k > 0 ? !equal(own[k - 1], own[k]) : !follows || !equal(last_before, own[0]);
        });
      });
  ordered.put_back();
  return left;
}

/// The elements for which chosen(x) holds come first. Returns their number.
template <detail::global_elements Array, std::predicate<const detail::element_in<Array>&> Chosen>
std::uint64_t partition(const Array& array, const Chosen& chosen) {
  using element = detail::element_in<Array>;
  if (array.size() == 0) return 0;
  const detail::parts_in_order<element> ordered(detail::handle_of(array), node_count() > 1);
  const std::uint64_t count =
      detail::over_parts(ordered.ref().layout(), [a = ordered.ref(), chosen](team& parts) -> std::uint64_t {
        const std::span<const element> own = a.local();
        return detail::select_part<true>(parts, a, [&](std::size_t k) { return chosen(own[k]); });
      });
  ordered.put_back();
  return count;
}

}  // namespace shoal
