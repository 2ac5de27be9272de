// SPDX-License-Identifier: Apache-2.0
#include "base/growing_ring.hpp"

#include <gtest/gtest.h>

namespace shoal::base {
namespace {

TEST(growing_ring, keeps_the_order_while_it_wraps_and_grows) {
  growing_ring<int> ring;
  int pushed = 0, popped = 0;
  for (int round = 0; round < 300; ++round) {
    for (int k = 0; k < 3; ++k) {
      ring.reserve();
      ring.push(pushed++);
    }
    EXPECT_EQ(ring.front(), popped);
    EXPECT_EQ(ring.pop(), popped++);
    EXPECT_EQ(ring.size(), static_cast<std::size_t>(pushed - popped));
  }
  while (!ring.empty()) EXPECT_EQ(ring.pop(), popped++);
  EXPECT_EQ(pushed, popped);
}

}  // namespace
}  // namespace shoal::base
