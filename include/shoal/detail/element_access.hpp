// SPDX-License-Identifier: Apache-2.0
// One operation on one element of memory that this process maps: what a handler does for a remote task, and what a task
// does itself where the memory is mapped. The same code for both, so that they agree.
// Who may call: anyone; never switches tasks.
// Guarantees: `Exclusive` false: atomic with respect to every other such operation, and a put is globally visible when
// it returns (sequentially consistent, so that flags and data, and store buffering, behave as promised). `Exclusive`
// true: plain; only where one worker executes and nothing is mapped elsewhere.
// Shown by tests/unit/array/element_access_test.cpp, tests/cluster/litmus_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shoal/detail/command.hpp"

namespace shoal::detail {

template <class T, class Change>
T change_atomically(T& at, Change&& change) noexcept {
  std::atomic_ref<T> cell(at);
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, change(old), std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  return old;
}

/// Changes that leave the element as it is need no store: most minima and maxima do not improve.
template <class T, class Better>
T improve_atomically(T& at, T value, Better&& better) noexcept {
  std::atomic_ref<T> cell(at);
  T old = cell.load(std::memory_order_seq_cst);
  while (better(value, old) && !cell.compare_exchange_weak(old, value, std::memory_order_seq_cst)) {
  }
  return old;
}

/// Wraps around where T is an integer, as the atomic additions do.
template <class T>
constexpr T sum_of(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using plain = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<plain>(static_cast<plain>(a) + static_cast<plain>(b)));
  } else {
    return a + b;
  }
}

/// Executes `V` on `at` and gives the old value (for a put: nothing meaningful).
template <verb V, bool Exclusive, class T>
inline T access(T& at, T value, [[maybe_unused]] T desired = T{}) noexcept {
  constexpr bool is_add = V == verb::add || V == verb::fetch_add;
  constexpr bool is_min = V == verb::min || V == verb::fetch_min;
  constexpr bool is_max = V == verb::max || V == verb::fetch_max;
  constexpr bool is_and = V == verb::bit_and || V == verb::fetch_and;
  constexpr bool is_or = V == verb::bit_or || V == verb::fetch_or;
  constexpr bool is_xor = V == verb::bit_xor || V == verb::fetch_xor;
  if constexpr (Exclusive) {
    const T old = at;
    if constexpr (V == verb::put || V == verb::exchange)
      at = value;
    else if constexpr (is_add)
      at = sum_of(old, value);
    else if constexpr (is_min)
      at = std::min(old, value);
    else if constexpr (is_max)
      at = std::max(old, value);
    else if constexpr (is_and)
      at = static_cast<T>(old & value);
    else if constexpr (is_or)
      at = static_cast<T>(old | value);
    else if constexpr (is_xor)
      at = static_cast<T>(old ^ value);
    else if constexpr (V == verb::compare_exchange) {
      if (old == value) at = desired;
    }
    return old;
  } else {
    std::atomic_ref<T> cell(at);
    if constexpr (V == verb::get)
      return cell.load(std::memory_order_seq_cst);
    else if constexpr (V == verb::put) {
      cell.store(value, std::memory_order_seq_cst);
      return value;
    } else if constexpr (V == verb::exchange)
      return cell.exchange(value, std::memory_order_seq_cst);
    else if constexpr (V == verb::compare_exchange) {
      cell.compare_exchange_strong(value, desired, std::memory_order_seq_cst);
      return value;
    } else if constexpr (is_add && std::is_integral_v<T>)
      return cell.fetch_add(value, std::memory_order_seq_cst);
    else if constexpr (is_add)
      return change_atomically(at, [value](T old) { return sum_of(old, value); });
    else if constexpr (is_min)
      return improve_atomically(at, value, [](T a, T b) { return a < b; });
    else if constexpr (is_max)
      return improve_atomically(at, value, [](T a, T b) { return b < a; });
    else if constexpr (is_and)
      return cell.fetch_and(value, std::memory_order_seq_cst);
    else if constexpr (is_or)
      return cell.fetch_or(value, std::memory_order_seq_cst);
    else if constexpr (is_xor)
      return cell.fetch_xor(value, std::memory_order_seq_cst);
  }
}

/// Executes a test_ verb on `at`: whether it has changed it.
template <verb V, bool Exclusive, class T>
inline bool access_and_test(T& at, T value) noexcept {
  static_assert(is_test(V));
  if constexpr (V == verb::test_min)
    return value < access<verb::fetch_min, Exclusive>(at, value);
  else if constexpr (V == verb::test_max)
    return access<verb::fetch_max, Exclusive>(at, value) < value;
  else if constexpr (V == verb::test_and)
    return (access<verb::fetch_and, Exclusive>(at, value) & static_cast<T>(~value)) != 0;
  else
    return (static_cast<T>(~access<verb::fetch_or, Exclusive>(at, value)) & value) != 0;
}

/// Copies `bytes` in elements of `unit` bytes (1, 2, 4, 8: none of them tears; 0: as it comes). One side is shared
/// memory: what is read was complete before, and what comes after the copy comes after it, as flags and data want it.
inline void copy_elements(void* to, const void* from, std::uint64_t bytes, unsigned unit) noexcept {
  const auto copy = [&]<class T>(T) noexcept {
    auto* t = static_cast<T*>(to);
    const auto* f = static_cast<const T*>(from);
    for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i)
      __atomic_store_n(t + i, __atomic_load_n(f + i, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  };
  std::atomic_thread_fence(std::memory_order_release);
  switch (unit) {
    case 8: copy(std::uint64_t{}); break;
    case 4: copy(std::uint32_t{}); break;
    case 2: copy(std::uint16_t{}); break;
    default: std::memcpy(to, from, bytes);  // bytes cannot tear
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

/// The unit for elements of type T: its size if copies of it may not tear.
template <class T>
constexpr unsigned copy_unit() noexcept {
  return (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T) ? sizeof(T) : 0;
}

constexpr bool is_bitwise(verb v) noexcept {
  return v == verb::bit_and || v == verb::bit_or || v == verb::bit_xor || v == verb::fetch_and || v == verb::fetch_or ||
         v == verb::fetch_xor || v == verb::test_and || v == verb::test_or;
}
constexpr bool is_addition(verb v) noexcept { return v == verb::add || v == verb::fetch_add; }

/// Which verbs an element type has. bool has neither sums nor (in C++) atomic bit operations: min and max are those.
template <verb V, class T>
inline constexpr bool k_has_verb =
    std::is_same_v<T, bool> ? !is_bitwise(V) && !is_addition(V) : std::is_integral_v<T> || !is_bitwise(V);

}  // namespace shoal::detail
