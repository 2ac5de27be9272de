// SPDX-License-Identifier: Apache-2.0
#include "machine/entropy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace shoal::machine {
namespace {

TEST(entropy, no_two_drawings_are_alike) {
  std::set<std::array<std::byte, 16>> seen;
  for (int i = 0; i < 100; ++i) {
    std::array<std::byte, 16> drawn{};
    fill_random(drawn);
    EXPECT_TRUE(seen.insert(drawn).second);
  }
  fill_random({});
}

}  // namespace
}  // namespace shoal::machine
