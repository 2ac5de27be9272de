// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/quicksort/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace problems::quicksort {
namespace {

TEST(problem_quicksort, a_cut_leaves_both_sides_in_order_and_neither_empty) {
  for (std::size_t n : {2U, 9U, 10U, 100U, 5000U}) {
    for (std::uint64_t distinct : {1U, 2U, 5U, 1000U}) {
      std::vector<std::uint32_t> keys(n);
      for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(mixed(n + i) % distinct);
      const std::uint32_t* const cut = partition(keys.data(), keys.data() + n);
      const auto left = cut - keys.data();
      ASSERT_TRUE(left > 0 && left < static_cast<std::ptrdiff_t>(n)) << n << " keys, " << distinct << " distinct";
      EXPECT_LE(*std::max_element(keys.begin(), keys.begin() + left),
                *std::min_element(keys.begin() + left, keys.end()));
    }
  }
}

TEST(problem_quicksort, every_variant_is_sorted_again_and_again) {
  for (std::size_t variant = 0; variant < std::size(problem::k_variants); ++variant) {
    problem p(50'000, variant);
    for (int round = 0; round < 2; ++round) {
      p.prepare();
      EXPECT_FALSE(p.valid({})) << problem::k_variants[variant];
      p.run([](auto* first, auto* last) { sort_serially(first, last); });
      EXPECT_TRUE(p.valid({})) << problem::k_variants[variant];
    }
  }
}

TEST(problem_quicksort, the_check_finds_keys_out_of_place_and_keys_that_are_not_the_same) {
  problem p(10'000);
  p.prepare();
  p.run([](auto* first, auto* last) {
    sort_serially(first, last);
    std::swap(first[4000], first[4001]);
  });
  EXPECT_FALSE(p.valid({}));
  p.prepare();
  p.run([](auto* first, auto* last) {
    sort_serially(first, last);
    first[4000] = first[4001];
  });
  EXPECT_FALSE(p.valid({}));
}

TEST(problem_quicksort, nearly_sorted_is_nearly_sorted) {
  const auto keys = make_keys<std::uint32_t>(10'000, true, 1);
  std::size_t displaced = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) displaced += keys[i] != i ? 1 : 0;
  EXPECT_GT(displaced, 50U);
  EXPECT_LE(displaced, 100U);
}

}  // namespace
}  // namespace problems::quicksort
