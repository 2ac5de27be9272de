// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/scan/kernel.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <numeric>

namespace problems::scan {
namespace {

TEST(problem_scan, the_check_finds_a_wrong_sum) {
  for (std::size_t variant = 0; variant < std::size(problem::k_variants); ++variant) {
    problem p(1000, variant);
    p.prepare();
    EXPECT_FALSE(p.valid({}));
    p.scan_by([](const auto& from, auto& to) { std::partial_sum(from.begin(), from.end(), to.begin()); });
    EXPECT_TRUE(p.valid({}));
    EXPECT_EQ(p.work({}), 1000U);
    p.scan_by([](const auto&, auto& to) { to.back() += 1; });
    EXPECT_FALSE(p.valid({}));
  }
}

}  // namespace
}  // namespace problems::scan
