// SPDX-License-Identifier: Apache-2.0
#include "array/plan.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shoal/error.hpp"

namespace {

using shoal::blocks_at;
using shoal::distribution_plan;
using shoal::weighted;
using shoal::array::resolved;
using bounds = std::vector<std::uint64_t>;

TEST(plan, weights_become_bounds) {
  EXPECT_EQ(resolved(weighted({1, 3}), 100, 2).bounds, (bounds{0, 25, 100}));
  EXPECT_EQ(resolved(weighted({1, 1, 1}), 100, 3).bounds, (bounds{0, 33, 67, 100}));
  EXPECT_EQ(resolved(weighted({0, 1, 0}), 10, 3).bounds, (bounds{0, 0, 10, 10}));
  EXPECT_EQ(resolved(weighted({0.1, 0.1, 0.1}), 0, 3).bounds, (bounds{0, 0, 0, 0}));
  EXPECT_EQ(resolved(weighted({5}), 7, 4).bounds, (bounds{0, 7}));
  const std::uint64_t large = (std::uint64_t{1} << 45) + 1;
  EXPECT_EQ(resolved(weighted({1, 1}), large, 2).bounds.back(), large);
}

TEST(plan, what_does_not_fit_is_refused) {
  const auto refused = [](const distribution_plan& p, std::uint64_t size, std::uint32_t nodes) {
    try {
      resolved(p, size, nodes);
    } catch (const shoal::error& e) {
      return e.code() == shoal::errc::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused(blocks_at({}), 0, 2));
  EXPECT_TRUE(refused(blocks_at({0}), 0, 2));
  EXPECT_TRUE(refused(blocks_at({0, 5}), 6, 2));         // not the size
  EXPECT_TRUE(refused(blocks_at({1, 6}), 6, 2));         // not from 0
  EXPECT_TRUE(refused(blocks_at({0, 4, 3, 6}), 6, 3));   // not ascending
  EXPECT_TRUE(refused(blocks_at({0, 1, 2, 6}), 6, 2));   // more parts than nodes
  EXPECT_TRUE(refused(weighted({0, 0}), 6, 2));          // no weight
  EXPECT_TRUE(refused(weighted({1, -1}), 6, 2));         // negative
  EXPECT_TRUE(refused(shoal::block_cyclic(0), 6, 2));    // no block
  EXPECT_TRUE(refused(shoal::partition_from(2), 6, 2));  // no such node
  EXPECT_FALSE(refused(blocks_at({0, 2, 2, 6}), 6, 4));
  EXPECT_FALSE(refused(shoal::partition_from(1), 6, 2));
}

}  // namespace
