// SPDX-License-Identifier: Apache-2.0
// The two ways in which the workers of a process sort elements of its memory, with one interface: local(count) knows
// its room_bytes(), run(data, spare, room) sorts. Who may call: tasks; run() may switch.
// Shown by tests/unit/algorithms/radix_sort_test.cpp, comparison_sort_test.cpp.
#pragma once

#include <cstddef>

#include "shoal/detail/comparison_sort.hpp"
#include "shoal/detail/radix_sort.hpp"

namespace shoal::detail {

/// By the digits of the keys.
template <radix_key Key, class Value = no_value>
struct local_radix {
  using pair = columns<Key, Value>;
  static constexpr radix_less less{};

  static std::size_t room_bytes(std::size_t count) noexcept { return radix_sorter<Key, Value>(count).room_bytes(); }
  static bool in_order(const pair& data, std::size_t count) {
    return radix_sorter<Key, Value>(count).in_order(data.keys);
  }
  static void run(const pair& data, const pair& spare, std::size_t count, scratch_memory& room) {
    radix_sorter<Key, Value>(count).run(data, spare, room);
  }
};

/// By a comparison.
template <class T, class Less, class Value = no_value>
struct local_comparison {
  using pair = columns<T, Value>;
  [[no_unique_address]] Less less;

  std::size_t room_bytes(std::size_t count) const noexcept {
    return comparison_sorter<T, Value, Less>(count, less).room_bytes();
  }
  void run(const pair& data, const pair& spare, std::size_t count, scratch_memory& room) const {
    comparison_sorter<T, Value, Less>(count, less).run(data, spare, room);
  }
};

/// Sorts elements of this process, with memory for as many more.
template <class Key, class Value, class Local>
void sort_here(const columns<Key, Value>& data, std::size_t count, const Local& local) {
  if (count <= k_most_inserted) return insertion_sort(data, count, local.less);
  if constexpr (requires { local.in_order(data, count); })
    if (local.in_order(data, count)) return;  // without the memory
  using room_type = scratch_memory;
  std::size_t bytes = room_type::bytes_for<Key>(count) + local.room_bytes(count);
  if constexpr (columns<Key, Value>::k_valued) bytes += room_type::bytes_for<Value>(count);
  scratch_memory room(bytes, "sorting");
  columns<Key, Value> spare{room.take<Key>(count), nullptr};
  if constexpr (columns<Key, Value>::k_valued) spare.values = room.take<Value>(count);
  with_memory("sorting", [&] { local.run(data, spare, count, room); });
}

}  // namespace shoal::detail
