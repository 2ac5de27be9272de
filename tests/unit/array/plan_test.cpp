// SPDX-License-Identifier: Apache-2.0
#include "array/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "shoal/error.hpp"

namespace {

using shoal::blocks_at;
using shoal::distribution_plan;
using shoal::owned_by;
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

TEST(plan, owners_are_asked_once_for_each_block_in_order) {
  std::vector<std::uint64_t> asked;
  const auto plan = resolved(owned_by(10,
                                      [&asked](std::uint64_t b) {
                                        asked.push_back(b);
                                        return b % 2 == 0 ? 3 : 0;
                                      }),
                             41, 4);
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(plan.owners, (std::vector<std::uint32_t>{3, 0, 3, 0, 3}));
  EXPECT_THROW(resolved(owned_by(10, [](std::uint64_t) -> int { throw std::length_error("no owner"); }), 41, 4),
               std::length_error);
}

TEST(plan, what_does_not_fit_is_refused) {
  const auto one_node = [](std::uint64_t) { return 1; };
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
  EXPECT_TRUE(refused(weighted({1, std::nan("")}), 6, 2));
  EXPECT_TRUE(refused(weighted({1, std::numeric_limits<double>::infinity()}), 6, 2));
  EXPECT_TRUE(refused(weighted({}), 6, 2));
  EXPECT_TRUE(refused(shoal::partition_on(0, 0), 6, 2));
  EXPECT_TRUE(refused(shoal::partition_on(0, 3), 6, 2));
  EXPECT_TRUE(refused(shoal::partition_on(2, 1), 6, 2));
  EXPECT_TRUE(refused(owned_by(0, one_node), 6, 2));
  EXPECT_TRUE(refused(owned_by(2, [](std::uint64_t b) { return b; }), 6, 2));  // block 2 on node 2
  EXPECT_TRUE(refused(owned_by(2, [](std::uint64_t) { return -1; }), 6, 2));
  EXPECT_TRUE(refused(owned_by(1, one_node), (std::uint64_t{1} << 18) + 1, 2));  // too many blocks
  EXPECT_TRUE(refused(owned_by(2, std::vector<std::uint32_t>{0, 1}), 6, 2));     // three blocks
  EXPECT_TRUE(refused(owned_by(2, std::vector<std::uint32_t>{0, 1, 2}), 6, 2));
  EXPECT_FALSE(refused(owned_by(1, one_node), std::uint64_t{1} << 18, 2));
  EXPECT_FALSE(refused(owned_by(4, one_node), 0, 2));
  EXPECT_FALSE(refused(shoal::partition_on(1, 2), 6, 2));
  EXPECT_FALSE(refused(blocks_at({0, 2, 2, 6}), 6, 4));
  EXPECT_FALSE(refused(shoal::partition_from(1), 6, 2));
}

}  // namespace
