// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/order/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace problems::order {
namespace {

TEST(problem_order, the_check_finds_elements_out_of_place_and_elements_that_are_not_the_same) {
  for (std::size_t variant = 0; variant < std::size(problem::k_variants); ++variant) {
    problem p(5000, variant);
    p.prepare();
    EXPECT_EQ(p.valid({}), problem::k_variants[variant] == "sorted64");
    p.sort_by([](auto first, auto last, const auto& less) { std::sort(first, last, less); });
    EXPECT_TRUE(p.valid({}));
    EXPECT_EQ(p.work({}), 5000U);
    p.sort_by([](auto first, auto last, const auto&) { std::iter_swap(first, std::prev(last)); });
    EXPECT_FALSE(p.valid({}));
    p.sort_by([](auto first, auto last, const auto&) { *first = *std::prev(last) = *std::next(first); });
    EXPECT_FALSE(p.valid({}));
  }
}

}  // namespace
}  // namespace problems::order
