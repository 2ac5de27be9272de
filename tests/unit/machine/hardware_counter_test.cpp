// SPDX-License-Identifier: Apache-2.0
#include "machine/hardware_counter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::machine {
namespace {

TEST(hardware_counter, counts_or_says_why_not) {
  const hardware_counter misses = hardware_counter::of_tlb_misses();
  if (!misses.why_not().empty()) {
    EXPECT_FALSE(misses.count().has_value());
    GTEST_SKIP() << misses.why_not();
  }
  const auto before = misses.count();
  ASSERT_TRUE(before.has_value());
  std::vector<unsigned char> table(std::size_t{256} << 20);
  for (std::size_t at = 0, i = 0; i < 1'000'000; ++i) table[at = (at * 4097 + 64 * 1021 + i) % table.size()] += 1;
  const auto after = misses.count();
  ASSERT_TRUE(after.has_value());
  EXPECT_GT(*after, *before);
}

}  // namespace
}  // namespace shoal::machine
