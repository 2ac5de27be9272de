// SPDX-License-Identifier: Apache-2.0
#include "shoal/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace {

using shoal::splitmix64;
using shoal::xoshiro256ss;

static_assert(std::uniform_random_bit_generator<splitmix64>);
static_assert(std::uniform_random_bit_generator<xoshiro256ss>);
static_assert(xoshiro256ss(7)() == xoshiro256ss(7)(), "usable in constant expressions");

// The published sequences of the reference implementations.
TEST(random, splitmix_matches_the_reference) {
  splitmix64 g(1234567);
  for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(g(), expected);
  }
}

TEST(random, xoshiro_matches_the_reference) {
  xoshiro256ss g(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  for (const std::uint64_t expected : {11520u, 0u, 1509978240u}) EXPECT_EQ(g(), expected);
  EXPECT_EQ(g(), 1215971899390074240u);
}

TEST(random, splitmix_at_skips) {
  splitmix64 g(42);
  for (std::uint64_t n = 0; n < 100; ++n) EXPECT_EQ(splitmix64::at(42, n), g());
}

TEST(random, streams_differ) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) firsts.insert(xoshiro256ss(1, stream)());
  EXPECT_EQ(firsts.size(), 1000u);
}

TEST(random, below_stays_below_and_reaches_everything) {
  xoshiro256ss g(1);
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 10u}) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t x = g.below(bound);
      ASSERT_LT(x, bound);
      seen.insert(x);
    }
    EXPECT_EQ(seen.size(), bound);
  }
  for (int i = 0; i < 1000; ++i) EXPECT_LT(g.below((1ull << 63) + 1), (1ull << 63) + 1);
}

// With bound = 3 * 2^62 and no rejection a quarter of the range would come up twice as often. Chi-squared over 3 cells
// with 2 degrees of freedom; the seed is fixed, so this either always passes or always fails.
TEST(random, below_is_exactly_uniform) {
  xoshiro256ss g(2);
  constexpr int k_draws = 300'000;
  std::array<int, 3> cells{};
  for (int i = 0; i < k_draws; ++i) ++cells[g.below(3ull << 62) % 3];
  double chi = 0;
  for (const int n : cells) chi += (n - k_draws / 3.0) * (n - k_draws / 3.0) / (k_draws / 3.0);
  EXPECT_LT(chi, 13.8);  // one in a thousand
}

TEST(random, unit_lies_in_the_half_open_interval) {
  xoshiro256ss g(3);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = g.unit();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.01);
}

TEST(random, shuffles) {
  std::vector<int> v(100);
  for (int i = 0; i < 100; ++i) v[static_cast<std::size_t>(i)] = i;
  auto shuffled = v;
  std::ranges::shuffle(shuffled, xoshiro256ss(4));
  EXPECT_NE(shuffled, v);
  EXPECT_TRUE(std::ranges::is_permutation(shuffled, v));
}

}  // namespace
