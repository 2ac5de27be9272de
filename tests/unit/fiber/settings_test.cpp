// SPDX-License-Identifier: Apache-2.0
#include "fiber/settings.hpp"

#include <gtest/gtest.h>

namespace shoal::fiber {
namespace {

TEST(fiber_settings, values_become_options) {
  base::settings s;
  s.add(k_fiber_settings);
  s.set("stack", "32K");
  s.set("stacks", "1000");
  const options o = read_options(s);
  EXPECT_EQ(o.stack_bytes, 32U << 10);
  EXPECT_EQ(o.most_stacks, 1000U);
}

}  // namespace
}  // namespace shoal::fiber
