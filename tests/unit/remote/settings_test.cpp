// SPDX-License-Identifier: Apache-2.0
#include "remote/settings.hpp"

#include <gtest/gtest.h>

namespace shoal::remote {
namespace {

TEST(remote_settings, values_become_options) {
  base::settings s;
  s.add(k_remote_settings);
  EXPECT_EQ(read_options(s).helpers, 0U);
  EXPECT_EQ(read_options(s).one_sided_bytes, 32U << 10);
  EXPECT_EQ(read_options(s).send_after_us, 200U);
  EXPECT_EQ(read_options(s).overflow_memory, 0U);
  EXPECT_EQ(read_options(s).call_memory, 4U << 20);
  s.set("helpers", "3");
  s.set("overflow_memory", "5M");
  s.set("send_after_us", "50");
  s.set("one_sided", "512");
  EXPECT_EQ(read_options(s).helpers, 3U);
  EXPECT_EQ(read_options(s).one_sided_bytes, 512U);
  EXPECT_EQ(read_options(s).send_after_us, 50U);
  EXPECT_EQ(read_options(s).overflow_memory, 5U << 20);
}

}  // namespace
}  // namespace shoal::remote
