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
  EXPECT_EQ(o.stack_pages, machine::page_choice::small);
  s.set("stack_pages", "huge-try");
  EXPECT_EQ(read_options(s).stack_pages, machine::page_choice::huge_try);
  s.set("stack_pages", "3m");
  EXPECT_THROW(read_options(s), error);
}

}  // namespace
}  // namespace shoal::fiber
