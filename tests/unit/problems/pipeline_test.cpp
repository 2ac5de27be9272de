// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/pipeline/kernel.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace problems::pipeline {
namespace {

TEST(problem_pipeline, the_check_finds_results_that_are_missing_or_out_of_order) {
  const problem p(100, 3);
  const auto checksum = [](auto order) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 100; ++i) take(sum, computed(order(i), 3));
    return sum;
  };
  EXPECT_TRUE(p.valid(checksum([](std::uint64_t i) { return i; })));
  EXPECT_FALSE(p.valid(checksum([](std::uint64_t i) { return i < 2 ? 1 - i : i; })));
  EXPECT_FALSE(p.valid(checksum([](std::uint64_t i) { return i == 99 ? 98 : i; })));
  EXPECT_EQ(p.work(0), 0U);
}

}  // namespace
}  // namespace problems::pipeline
