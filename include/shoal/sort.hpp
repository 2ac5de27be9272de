// SPDX-License-Identifier: Apache-2.0
// Sorting with all workers of a process.
//   shoal::sort(std::span(keys));                         integers, float, double: by their digits
//   shoal::sort(std::span(keys), std::span(values));      each value moves with its key
//   shoal::sort(std::span(records), by_name);             by a comparison
// Who may call: tasks, while no other task uses the elements. All of them switch tasks.
// Guarantees: stable. Floating point is in IEEE 754's total order: negative NaN, -infinity ... -0, +0 ... NaN. A
// comparison is a strict weak order, does not throw, and is called by several workers at once.
// Memory: as many elements again, 2 bytes per element with a comparison, and up to 1 MiB per worker. Errors:
// shoal::error (out_of_memory) before an element has moved. O(n) passes by digits, O(n log n) comparisons.
// Source: SYSTEMS: radix sort (Morari 2014, chapter 7). Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <concepts>
#include <span>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/sort_local.hpp"

namespace shoal {

template <radix_key Key>
void sort(std::span<Key> keys) {
  detail::sort_here(detail::columns<Key, detail::no_value>{keys.data()}, keys.size(), detail::local_radix<Key>{});
}
/// `values` has the size of `keys`.
template <radix_key Key, class Value>
void sort(std::span<Key> keys, std::span<Value> values) {
  SHOAL_ASSERT(keys.size() == values.size(), "each key has a value");
  detail::sort_here(detail::columns<Key, Value>{keys.data(), values.data()}, keys.size(),
                    detail::local_radix<Key, Value>{});
}
/// less(a, b): whether a comes before b.
template <class T, std::predicate<const T&, const T&> Less>
void sort(std::span<T> elements, const Less& less) {
  detail::sort_here(detail::columns<T, detail::no_value>{elements.data()}, elements.size(),
                    detail::local_comparison<T, Less>{less});
}

}  // namespace shoal
