// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/reciprocal.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "shoal/random.hpp"

namespace {

using shoal::detail::reciprocal;

static_assert(std::is_trivially_copyable_v<reciprocal>);
static_assert(reciprocal(7).divide(50).quotient == 7 && reciprocal(7).divide(50).remainder == 1);
static_assert(reciprocal().divide(~0ull).quotient == ~0ull);

constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();

testing::AssertionResult agrees(const reciprocal& r, std::uint64_t x) {
  const std::uint64_t d = r.divisor();
  const auto [q, rest] = r.divide(x);
  if (q == x / d && rest == x % d && r.quotient(x) == q) return testing::AssertionSuccess();
  return testing::AssertionFailure() << x << " / " << d << " gave " << q << " rest " << rest;
}

// Powers of two and their neighbours: where shifts and carries change.
std::vector<std::uint64_t> edges() {
  std::vector<std::uint64_t> values{0, k_max};
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (std::uint64_t delta = 0; delta < 4; ++delta) {
      values.push_back((1ull << bit) + delta);
      values.push_back((1ull << bit) - delta);
    }
  }
  return values;
}

bool is_divisor(std::uint64_t d) { return d >= 1 && d <= 1ull << 63; }

TEST(reciprocal, small_divisors_and_values_exhaustively) {
  for (std::uint64_t d = 1; d <= 700; ++d) {
    const reciprocal r(d);
    for (std::uint64_t x = 0; x <= 1500; ++x) ASSERT_TRUE(agrees(r, x));
    for (std::uint64_t x = k_max; x > k_max - 1500; --x) ASSERT_TRUE(agrees(r, x));
  }
}

TEST(reciprocal, edges_against_edges) {
  for (const std::uint64_t d : edges()) {
    if (!is_divisor(d)) continue;
    const reciprocal r(d);
    for (const std::uint64_t x : edges()) ASSERT_TRUE(agrees(r, x));
  }
}

// A quotient is most easily wrong just below and at a multiple of the divisor, and for the greatest multiples.
TEST(reciprocal, around_multiples) {
  shoal::xoshiro256ss random(11);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t d = (random() >> random.below(64)) | 1u;
    for (const std::uint64_t divisor : {d, d - 1, d + 1, std::uint64_t{1} << random.below(64)}) {
      if (!is_divisor(divisor)) continue;
      const reciprocal r(divisor);
      const std::uint64_t greatest = k_max / divisor;
      for (const std::uint64_t n : {greatest, greatest - greatest / 2, greatest / 3, random.below(greatest) + 1}) {
        for (std::uint64_t delta = 0; delta < 3; ++delta) {
          ASSERT_TRUE(agrees(r, n * divisor + delta));
          ASSERT_TRUE(agrees(r, n * divisor - delta));
        }
      }
    }
  }
}

TEST(reciprocal, random_pairs) {
  shoal::xoshiro256ss random(12);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t d = random() >> random.below(64);
    if (!is_divisor(d)) continue;
    ASSERT_TRUE(agrees(reciprocal(d), random() >> random.below(64)));
  }
}

TEST(reciprocal_death, refuses_zero_and_huge) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  volatile std::uint64_t zero = 0;
  EXPECT_DEATH(reciprocal{zero}, "divisor from 1 to 2\\^63");
  EXPECT_DEATH(reciprocal{(1ull << 63) + 1 + zero}, "divisor from 1 to 2\\^63");
}

}  // namespace
