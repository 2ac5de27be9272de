// SPDX-License-Identifier: Apache-2.0
// Sorts global arrays over all nodes, and contiguous memory (spans, vectors) with all workers of this process.
//   shoal::sort(a);                  integers, float, double: by their digits
//   shoal::sort(a, less);            anything, by a comparison
//   shoal::sort_by_key(k, v);        element i of v moves with element i of k; also (k, v, less)
// Who may call: tasks (memory: of pools, too), while no other task uses the elements. Switches tasks.
// Guarantees: stable in the order of indices. Floating point in IEEE 754's total order: -NaN, -infinity ... -0, 0 ... NaN.
// `less`: a strict weak order that does not throw and is called by several workers at once; it travels to the nodes.
// Memory: as many elements again (cyclic arrays: twice) and at most 304 KiB per worker, 64 KiB per block; by comparison 2
// bytes per element. Errors: out_of_memory before anything moves, invalid_argument if there is no value for each key.
// Sources: detail/radix_sort.hpp, comparison_sort.hpp, sort_nodes.hpp. Shown by tests/cluster/sort_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include "shoal/array.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/detail/sort_local.hpp"
#include "shoal/detail/sort_nodes.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"

namespace shoal {

namespace detail {

template <class R>
concept sortable_memory = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Arrays of so few elements are sorted by the calling node.
inline constexpr std::uint64_t k_most_sorted_by_one = 2048;

template <class Key, class Value, class Local>
void sort_by_one(const array_columns<Key, Value>& all, const Local& local) {
  const std::size_t count = all.keys.size();
  scratch_memory room(scratch_memory::bytes_for<Key>(count) + scratch_memory::bytes_for<Value>(count), "sorting");
  const columns<Key, Value> copy{room.take<Key>(count), room.take<Value>(count)};
  all.keys.get(0, std::span(copy.keys, count));
  if constexpr (columns<Key, Value>::k_valued) all.values.get(0, std::span(copy.values, count));
  sort_here(copy, count, local);
  all.keys.put(0, std::span<const Key>(copy.keys, count));
  if constexpr (columns<Key, Value>::k_valued) all.values.put(0, std::span<const Value>(copy.values, count));
}

/// The keys lie in contiguous parts, and the values with them.
template <class Key, class Value, class Local>
void sort_parts(const array_columns<Key, Value>& all, const Local& local) {
  const array_layout& layout = all.keys.layout();
  if (layout.node_count == 1) {
    const auto sort_own = [all, local] { sort_here(all.local(), all.keys.size(), local); };
    return layout.first_node == node_id() ? sort_own() : on(layout.first_node, sort_own);
  }
  const global_array<Key> keys(layout.size, like(all.keys));
  if constexpr (columns<Key, Value>::k_valued) {
    const global_array<Value> values(layout.size, like(all.keys));
    sort_over_nodes(all, array_columns<Key, Value>{keys, values}, local);
  } else {
    sort_over_nodes(all, array_columns<Key, Value>{keys, {}}, local);
  }
}

template <class Key, class Value, class Local>
void sort_arrays(const array_columns<Key, Value>& all, const Local& local) {
  if (all.keys.size() < 2) return;
  if (all.keys.size() <= k_most_sorted_by_one) return sort_by_one(all, local);
  const parts_in_order<Key> keys(all.keys);
  if constexpr (columns<Key, Value>::k_valued) {
    const parts_in_order<Value> values(all.values, keys.ref(), true);
    sort_parts(array_columns<Key, Value>{keys.ref(), values.ref()}, local);
    values.put_back();
  } else {
    sort_parts(array_columns<Key, Value>{keys.ref(), {}}, local);
  }
  keys.put_back();
}

inline void require_values(std::uint64_t keys, std::uint64_t values) {
  if (keys == values) return;
  throw error(errc::invalid_argument, "sort_by_key got " + std::to_string(keys) + " keys and " +
                                          std::to_string(values) + " values; give a value for each key");
}

}  // namespace detail

template <detail::global_elements Array>
requires radix_key<detail::element_in<Array>>
void sort(const Array& array) {
  using key = detail::element_in<Array>;
  detail::sort_arrays(detail::array_columns<key, detail::no_value>{detail::handle_of(array), {}},
                      detail::local_radix<key>{});
}
/// less(a, b): whether a comes before b. Trivially copyable.
template <detail::global_elements Array, class Less>
requires std::predicate < const Less&, const detail::element_in<Array>
&, const detail::element_in<Array>& > void sort(const Array& array, const Less& less) {
  using element = detail::element_in<Array>;
  detail::sort_arrays(detail::array_columns<element, detail::no_value>{detail::handle_of(array), {}},
                      detail::local_comparison<element, Less>{less});
}
/// Where the distributions differ, the values take memory once more.
template <detail::global_elements Keys, detail::global_elements Values>
requires radix_key<detail::element_in<Keys>>
void sort_by_key(const Keys& keys, const Values& values) {
  using key = detail::element_in<Keys>;
  using value = detail::element_in<Values>;
  detail::require_values(keys.size(), values.size());
  detail::sort_arrays(detail::array_columns<key, value>{detail::handle_of(keys), detail::handle_of(values)},
                      detail::local_radix<key, value>{});
}
template <detail::global_elements Keys, detail::global_elements Values, class Less>
requires std::predicate < const Less&, const detail::element_in<Keys>
&, const detail::element_in<Keys>& > void sort_by_key(const Keys& keys, const Values& values, const Less& less) {
  using key = detail::element_in<Keys>;
  using value = detail::element_in<Values>;
  detail::require_values(keys.size(), values.size());
  detail::sort_arrays(detail::array_columns<key, value>{detail::handle_of(keys), detail::handle_of(values)},
                      detail::local_comparison<key, Less, value>{less});
}

template <detail::sortable_memory Memory>
requires radix_key<std::ranges::range_value_t<Memory>>
void sort(Memory&& memory) {
  using key = std::ranges::range_value_t<Memory>;
  detail::sort_here(detail::columns<key, detail::no_value>{std::ranges::data(memory)}, std::ranges::size(memory),
                    detail::local_radix<key>{});
}
template <detail::sortable_memory Memory, class Less>
requires std::predicate < const Less&, const std::ranges::range_value_t<Memory>
&, const std::ranges::range_value_t<Memory>& > void sort(Memory&& memory, const Less& less) {
  using element = std::ranges::range_value_t<Memory>;
  detail::sort_here(detail::columns<element, detail::no_value>{std::ranges::data(memory)}, std::ranges::size(memory),
                    detail::local_comparison<element, Less>{less});
}
template <detail::sortable_memory Keys, detail::sortable_memory Values>
requires radix_key<std::ranges::range_value_t<Keys>>
void sort_by_key(Keys&& keys, Values&& values) {
  using key = std::ranges::range_value_t<Keys>;
  using value = std::ranges::range_value_t<Values>;
  detail::require_values(std::ranges::size(keys), std::ranges::size(values));
  detail::sort_here(detail::columns<key, value>{std::ranges::data(keys), std::ranges::data(values)},
                    std::ranges::size(keys), detail::local_radix<key, value>{});
}
template <detail::sortable_memory Keys, detail::sortable_memory Values, class Less>
requires std::predicate < const Less&, const std::ranges::range_value_t<Keys>
&, const std::ranges::range_value_t<Keys>& > void sort_by_key(Keys&& keys, Values&& values, const Less& less) {
  using key = std::ranges::range_value_t<Keys>;
  using value = std::ranges::range_value_t<Values>;
  detail::require_values(std::ranges::size(keys), std::ranges::size(values));
  detail::sort_here(detail::columns<key, value>{std::ranges::data(keys), std::ranges::data(values)},
                    std::ranges::size(keys), detail::local_comparison<key, Less, value>{less});
}

}  // namespace shoal
