// SPDX-License-Identifier: Apache-2.0
#include "launch/settings.hpp"

#include <gtest/gtest.h>

namespace shoal::launch {
namespace {

TEST(launch_settings, seconds_become_nanoseconds) {
  base::settings s;
  s.add(k_launch_settings);
  s.set("start_seconds", "2");
  s.set("silence_seconds", "0.25");
  s.set("hub_address", "10.0.0.1");
  const options o = read_options(s);
  EXPECT_EQ(o.start_timeout_ns, 2'000'000'000);
  EXPECT_EQ(o.silence_ns, 250'000'000);
  EXPECT_EQ(o.hub_address, "10.0.0.1");
}

}  // namespace
}  // namespace shoal::launch
