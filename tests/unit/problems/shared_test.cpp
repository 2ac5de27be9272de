// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/shared/kernel.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace problems::shared {
namespace {

TEST(problem_shared, the_check_finds_changes_that_are_lost_or_seen_by_halves) {
  for (std::size_t variant = 0; variant < std::size(problem::k_variants); ++variant) {
    problem p(1000, variant);
    const auto look = [](const auto& body) { body(); };
    const auto nothing = [](const auto&) {};
    p.prepare();
    EXPECT_TRUE(p.valid(p.operate(0, 1000, look, look)));
    EXPECT_EQ(p.work({}), 1000U);
    EXPECT_FALSE(p.valid(1));
    p.prepare();
    EXPECT_EQ(p.valid(p.operate(0, 1000, look, nothing)), p.one_in == 0);
  }
}

}  // namespace
}  // namespace problems::shared
