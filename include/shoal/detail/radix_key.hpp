// SPDX-License-Identifier: Apache-2.0
// The keys of radix sorts as unsigned numbers in the same order: integers of 1, 2, 4, 8 bytes, bool, float and double.
// Floating point has IEEE 754's total order: negative NaN, -infinity ... -0, +0 ... infinity, positive NaN.
// Who may call: anyone; pure functions. Source: Herf, "Radix tricks" (2001).
// Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace shoal {

/// What shoal::sort orders by its digits.
template <class T>
concept radix_key = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

template <std::size_t Bytes>
using unsigned_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <radix_key Key>
constexpr auto ordered_bits(Key key) noexcept {
  using bits = unsigned_of<sizeof(Key)>;
  constexpr auto k_sign = static_cast<bits>(bits{1} << (8 * sizeof(Key) - 1));
  const auto b = std::bit_cast<bits>(key);
  if constexpr (std::floating_point<Key>) {
    // Of negative numbers all bits are turned, of others the sign alone.
    const auto negative = static_cast<bits>(0 - (b >> (8 * sizeof(Key) - 1)));
    return static_cast<bits>(b ^ (negative | k_sign));
  } else if constexpr (std::signed_integral<Key>) {
    return static_cast<bits>(b ^ k_sign);
  } else {
    return b;
  }
}

/// The order of radix sorts as a comparison.
struct radix_less {
  template <radix_key Key>
  constexpr bool operator()(Key a, Key b) const noexcept {
    return ordered_bits(a) < ordered_bits(b);
  }
};

}  // namespace detail
}  // namespace shoal
