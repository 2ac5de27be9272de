// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/skew/kernel.hpp"

#include <gtest/gtest.h>

namespace {

using problems::skew::problem;

TEST(problem_skew, the_check_finds_an_iteration_left_out) {
  for (std::size_t which = 0; which < problem::k_variants.size(); ++which) {
    problem p(1000, which);
    p.prepare();
    EXPECT_FALSE(p.valid({}));
    for (std::uint64_t i = 0; i < 1000; ++i)
      if (i != 500) p.iteration(i);
    EXPECT_FALSE(p.valid({}));
    p.iteration(500);
    EXPECT_TRUE(p.valid({}));
  }
}

TEST(problem_skew, a_hundredth_of_the_iterations_has_the_work) {
  const problem last(1000, 0);
  const problem even(1000, 4);
  EXPECT_EQ(last.total, even.total);
  EXPECT_EQ(last.rounds[989], 0U);
  EXPECT_GT(last.rounds[990], 0U);
}

}  // namespace
