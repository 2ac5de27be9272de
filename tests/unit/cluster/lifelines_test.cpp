// SPDX-License-Identifier: Apache-2.0
#include "cluster/lifelines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <queue>
#include <set>
#include <vector>

namespace shoal::cluster {
namespace {

// By how many gifts work of node 0 reaches the farthest node, if each gives along the lifelines of those who ask it.
unsigned farthest(std::uint32_t nodes) {
  std::vector<int> distance(nodes, -1);
  std::queue<std::uint32_t> next({0});
  distance[0] = 0;
  while (!next.empty()) {
    const std::uint32_t at = next.front();
    next.pop();
    for (unsigned k = 0; k < lifeline_count(nodes); ++k) {
      const std::uint32_t to = asks_along(at, nodes, k);
      if (distance[to] >= 0) continue;
      distance[to] = distance[at] + 1;
      next.push(to);
    }
  }
  if (std::ranges::find(distance, -1) != distance.end()) return nodes;
  return static_cast<unsigned>(*std::ranges::max_element(distance));
}

TEST(lifelines, reach_every_node_in_logarithmically_many_steps) {
  for (std::uint32_t nodes = 1; nodes <= 300; ++nodes) EXPECT_LE(farthest(nodes), lifeline_count(nodes)) << nodes;
  EXPECT_LE(farthest(10'000), 14U);
}

TEST(lifelines, lead_to_different_other_nodes_and_are_known_at_both_ends) {
  for (const std::uint32_t nodes : {2U, 3U, 4U, 5U, 7U, 8U, 64U, 100U, 1025U}) {
    EXPECT_EQ(lifeline_count(nodes), static_cast<unsigned>(std::bit_width(std::bit_ceil(nodes))) - 1);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      std::set<std::uint32_t> ends;
      for (unsigned k = 0; k < lifeline_count(nodes); ++k) {
        const std::uint32_t asked = lifeline_of(node, nodes, k);
        EXPECT_NE(asked, node);
        EXPECT_LT(asked, nodes);
        EXPECT_TRUE(ends.insert(asked).second);
        EXPECT_EQ(asks_along(asked, nodes, k), node);
      }
    }
  }
  EXPECT_EQ(lifeline_count(0), 0U);
  EXPECT_EQ(lifeline_count(1), 0U);
}

TEST(lifelines, half_of_what_waits_is_never_nothing) {
  EXPECT_EQ(half_of(1), 1U);
  EXPECT_EQ(half_of(2), 1U);
  EXPECT_EQ(half_of(5), 3U);
  EXPECT_EQ(half_of(100), 50U);
}

}  // namespace
}  // namespace shoal::cluster
