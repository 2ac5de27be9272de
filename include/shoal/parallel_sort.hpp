// SPDX-License-Identifier: Apache-2.0
// Sorts elements of this process between random-access iterators, with all workers (keys with values: sort.hpp).
//   shoal::parallel_sort(names.begin(), names.end());
//   shoal::parallel_stable_sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.x < b.x; });
// `less` is a strict weak order; several workers call it. Who may call: tasks; it switches. Elements can be moved.
// Guarantees: O(n log n) comparisons for any input, one for each element in order. Without `less`, integers and (not
// stable) float and double in contiguous memory are sorted by digits; NaNs come first or last then, by their sign.
// Memory: as many elements again. Errors: no memory (shoal::error, std::bad_alloc): nothing has changed. What `less`
// throws is thrown when all workers have ended. Then elements may be assigned to and destroyed; those copied as bytes
// may be there twice or not at all; others are all there, except that a worker's std::sort may leave one moved-from.
// Sources: detail/radix_sort.hpp, comparison_sort.hpp, moving_sort.hpp.
// Tests: tests/unit/algorithms/parallel_sort_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/moving_sort.hpp"
#include "shoal/detail/sort_local.hpp"

namespace shoal {

namespace detail {

template <class Iterator, class Less>
concept sorts_elements =
    std::random_access_iterator<Iterator> && std::movable<std::iter_value_t<Iterator>> && std::predicate < const Less&,
        const std::iter_value_t<Iterator>
&, const std::iter_value_t<Iterator>& > ;

template <class T, class Less>
inline constexpr bool is_ascending =
    std::same_as<Less, std::less<>> || std::same_as<Less, std::less<T>> || std::same_as<Less, std::ranges::less>;

/// Whether no element is less than the one before. Ends at the first that is.
template <class Iterator, class Less>
bool are_in_order(Iterator first, std::size_t count, const Less& less) {
  constexpr std::size_t k_least_block = std::size_t{1} << 12;
  constexpr std::size_t k_together = 256;
  const auto at = [first](std::size_t i) { return first + static_cast<std::iter_difference_t<Iterator>>(i); };
  // Most input is not in order, and shows it at its beginning.
  if (!std::is_sorted(first, at(std::min(count, k_together)), std::cref(less))) return false;
  const block_division division(count, k_least_block, worker_here().siblings);
  std::atomic<bool> sorted{true};  // partners: the other blocks
  division.run([&](std::size_t block) {
    const std::size_t end = std::min(division.begin(block + 1) + 1, count);  // with the next one's first
    for (std::size_t i = division.begin(block); i + 1 < end && sorted.load(std::memory_order_relaxed); i += k_together)
      if (!std::is_sorted(at(i), at(std::min(i + k_together + 1, end)), std::cref(less)))
        sorted.store(false, std::memory_order_relaxed);
  });
  return sorted.load(std::memory_order_relaxed);
}

template <bool Stable, class Iterator, class Less>
void sort_between(Iterator first, Iterator last, const Less& less) {
  using T = std::iter_value_t<Iterator>;
  constexpr std::size_t k_sorted_by_one = 1024;
  constexpr bool k_by_bytes = std::contiguous_iterator<Iterator> && std::is_trivially_copyable_v<T> && std::copyable<T>;
  constexpr std::size_t k_most_merged_bytes = 64;  // elements move log(n) times then
  // Larger elements cost more to distribute and merge than the branches that this saves.
  constexpr bool k_exchanged = !Stable && k_by_bytes && sizeof(T) > 16;
  constexpr unsigned k_few_workers = 4;
  SHOAL_ASSERT(last - first >= 0, "these elements end before they begin: give the iterators the other way round");
  const auto count = static_cast<std::size_t>(last - first);
  if (count <= k_sorted_by_one) return sort_alone<Stable>(first, last, less);
  constexpr bool k_by_digits = std::contiguous_iterator<Iterator> && radix_key<T> && is_ascending<T, Less> &&
                               (!Stable || std::integral<T>);  // -0.0 and 0.0 are equal, but not to digits
  if constexpr (k_by_digits) {
    sort_here(columns<T, no_value>{std::to_address(first)}, count, local_radix<T>{});
  } else if (!are_in_order(first, count, less)) {
    if (k_exchanged && worker_here().siblings <= k_few_workers)
      return exchange_sorter<Iterator, Less>(less).run(first, count);
    if constexpr (k_by_bytes && sizeof(T) <= k_most_merged_bytes)
      sort_here(columns<T, no_value>{std::to_address(first)}, count,
                local_comparison<T, std::reference_wrapper<const Less>>{less});
    else
      moving_sorter<Stable, Iterator, Less>(first, count, less).run();
  }
}

}  // namespace detail

/// Equal elements come in any order.
template <class Iterator, class Less = std::less<>>
requires detail::sorts_elements<Iterator, Less>
void parallel_sort(Iterator first, Iterator last, const Less& less = {}) {
  detail::sort_between<false>(first, last, less);
}
/// Equal elements keep their order.
template <class Iterator, class Less = std::less<>>
requires detail::sorts_elements<Iterator, Less>
void parallel_stable_sort(Iterator first, Iterator last, const Less& less = {}) {
  detail::sort_between<true>(first, last, less);
}

}  // namespace shoal
