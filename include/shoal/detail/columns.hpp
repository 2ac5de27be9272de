// SPDX-License-Identifier: Apache-2.0
// What the algorithms move together: a column of keys, and, if there is one, a column of values beside it.
// Who may call: anyone; plain memory. Never switches tasks. Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace shoal::detail {

/// The type of values where there are none.
struct no_value {};

template <class Key, class Value>
struct columns {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "what is sorted is copied as it is");
  static constexpr bool k_valued = !std::is_same_v<Value, no_value>;
  /// Of an element, in all columns.
  static constexpr std::size_t k_bytes = sizeof(Key) + (k_valued ? sizeof(Value) : 0);

  Key* keys = nullptr;
  Value* values = nullptr;

  columns from(std::size_t i) const noexcept { return {keys + i, k_valued ? values + i : nullptr}; }
  void copy_to(const columns& to, std::size_t count) const noexcept {
    if (count == 0) return;
    std::memcpy(to.keys, keys, count * sizeof(Key));
    if constexpr (k_valued) std::memcpy(to.values, values, count * sizeof(Value));
  }
  void copy_one(std::size_t i, const columns& to, std::size_t j) const noexcept {
    to.keys[j] = keys[i];
    if constexpr (k_valued) to.values[j] = values[i];
  }
};

}  // namespace shoal::detail
