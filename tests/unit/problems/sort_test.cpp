// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/sort/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace problems::sort {
namespace {

TEST(problem_sort, the_check_finds_keys_out_of_place_and_keys_that_are_not_the_same) {
  for (std::size_t variant = 0; variant < 5; ++variant) {
    problem p(10'000, variant);
    p.prepare();
    EXPECT_FALSE(p.valid({}));
    std::sort(p.keys.begin(), p.keys.end());
    EXPECT_TRUE(p.valid({}));
    std::swap(p.keys.front(), p.keys.back());
    EXPECT_FALSE(p.valid({}));
    p.keys.front() = p.keys.back();
    EXPECT_FALSE(p.valid({}));
  }
}

}  // namespace
}  // namespace problems::sort
