// SPDX-License-Identifier: Apache-2.0
// Division of a 64-bit index by a divisor known only at run time, through multiplications: what finds the owner and the
// offset of an element. Exact for every 64-bit value and every divisor from 1 to 2^63 (a greater one never occurs:
// it would leave one element per node).
// Who may call: anyone, hot paths too; constexpr; trivially copyable, so it travels in handles and captures.
// Guarantees: divide(x) == {x / d, x % d}. Costs one wide multiplication, an add with carry and a shift; no branches.
// How: with s = ceil(log2 d) and m = floor(2^64 (2^s - d) / d) + 1, x / d is (x m / 2^64 + x) / 2^s where the sum has
// 65 bits. Source: Granlund, Montgomery, "Division by invariant integers using multiplication" (1994).
// Shown by tests/unit/base/reciprocal_test.cpp.
#pragma once

#include <bit>
#include <cstdint>

#include "shoal/detail/assert.hpp"

namespace shoal::detail {

/// Only quotients; for whoever has the divisor elsewhere. 10 bytes.
class quotient_only {
public:
  /// Divides by 1.
  constexpr quotient_only() noexcept = default;

  constexpr explicit quotient_only(std::uint64_t divisor) noexcept {
    SHOAL_ASSERT(divisor >= 1 && divisor <= std::uint64_t{1} << 63, "a reciprocal needs a divisor from 1 to 2^63");
    const auto bits = static_cast<unsigned>(std::bit_width(divisor - 1));  // ceil(log2 divisor)
    const wide excess = (wide{1} << bits) - divisor;
    multiplier_ = static_cast<std::uint64_t>((excess << 64) / divisor + 1);
    first_shift_ = static_cast<std::uint8_t>(bits > 0 ? 1 : 0);
    second_shift_ = static_cast<std::uint8_t>(bits > 0 ? bits - 1 : 0);
  }

  constexpr std::uint64_t quotient(std::uint64_t x) const noexcept {
    // high + x may have 65 bits; (x - high) / 2 + high is half of it and cannot overflow, as high <= x.
    const auto high = static_cast<std::uint64_t>((wide{multiplier_} * x) >> 64);
    return (high + ((x - high) >> first_shift_)) >> second_shift_;
  }

private:
  __extension__ using wide = unsigned __int128;

  std::uint64_t multiplier_ = 1;
  std::uint8_t first_shift_ = 0;
  std::uint8_t second_shift_ = 0;
};

class reciprocal {
public:
  struct result {
    std::uint64_t quotient;
    std::uint64_t remainder;
  };

  /// Divides by 1.
  constexpr reciprocal() noexcept = default;
  constexpr explicit reciprocal(std::uint64_t divisor) noexcept : divisor_(divisor), quotient_(divisor) {}

  constexpr std::uint64_t divisor() const noexcept { return divisor_; }
  constexpr std::uint64_t quotient(std::uint64_t x) const noexcept { return quotient_.quotient(x); }
  constexpr result divide(std::uint64_t x) const noexcept {
    const std::uint64_t q = quotient(x);
    return {q, x - q * divisor_};
  }

  friend constexpr bool operator==(const reciprocal& a, const reciprocal& b) noexcept {
    return a.divisor_ == b.divisor_;
  }

private:
  std::uint64_t divisor_ = 1;
  [[no_unique_address]] quotient_only quotient_;  // its padding is of use to who contains this
};

}  // namespace shoal::detail
