// SPDX-License-Identifier: Apache-2.0
#include "array/block_owners.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shoal/detail/array_layout.hpp"
#include "shoal/random.hpp"

namespace shoal::detail {
namespace {

TEST(block_owners, give_each_block_a_place_of_its_own) {
  for (const std::uint32_t nodes : {1U, 3U, 16U}) {
    splitmix64 bits(nodes);
    std::vector<std::uint32_t> owners(1000);
    for (auto& o : owners) o = static_cast<std::uint32_t>(bits() % nodes);
    const block_owners all(owners, nodes);
    EXPECT_EQ(all.size(), owners.size());
    std::uint64_t most = 0, sum = 0;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const auto mine = all.blocks_of(n);
      ASSERT_TRUE(std::ranges::is_sorted(mine));
      most = std::max<std::uint64_t>(most, mine.size());
      sum += mine.size();
      for (std::uint32_t k = 0; k < mine.size(); ++k) {
        ASSERT_EQ(owners[mine[k]], n);
        ASSERT_EQ(all.of(mine[k]).node, n);
        ASSERT_EQ(all.of(mine[k]).place, k);
      }
    }
    EXPECT_EQ(sum, owners.size());
    EXPECT_EQ(all.most_blocks(), most);
  }
}

TEST(block_owners, of_nodes_without_blocks_are_none) {
  const block_owners all(std::vector<std::uint32_t>{2, 2}, 4);
  EXPECT_TRUE(all.blocks_of(0).empty());
  EXPECT_TRUE(all.blocks_of(3).empty());
  EXPECT_EQ(all.blocks_of(2).size(), 2U);
  EXPECT_EQ(block_owners({}, 2).most_blocks(), 0U);
}

TEST(owned_range, counts_the_elements_below_any_index) {
  const std::uint32_t blocks[] = {1, 2, 5, 9};
  for (const std::uint64_t run : {1U, 4U, 7U})
    for (const std::uint64_t missing : {std::uint64_t{0}, run - 1}) {
      const array_layout::range r{run, 4 * run - missing, 0, run, blocks};
      std::uint64_t below = 0, k = 0;
      for (std::uint64_t i = 0; i < 12 * run; ++i) {
        ASSERT_EQ(r.below(i), below) << i << " run " << run;
        if (k < r.count && r.index(k) == i) ++k, ++below;
      }
      EXPECT_EQ(k, r.count);
    }
}

}  // namespace
}  // namespace shoal::detail
