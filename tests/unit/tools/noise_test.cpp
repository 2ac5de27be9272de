// SPDX-License-Identifier: Apache-2.0
// What `shoal noise` refuses.
#include <gtest/gtest.h>

#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::run_command;

TEST(noise_command, says_what_cannot_be_measured) {
  EXPECT_TRUE(run_command("noise --seconds 0.01 --quantum 1000000").has("too few"));
  EXPECT_NE(run_command("noise --seconds nan").status, 0);
  EXPECT_TRUE(run_command("noise --processors 1-x --seconds 0.1").has("as in 0,2-5"));
  EXPECT_TRUE(run_command("noise --processors 5-2 --seconds 0.1").has("as in 0,2-5"));
  EXPECT_EQ(run_command("noise --processors 0-0 --seconds 0.1").status, 0);
}

TEST(noise_command, options_without_effect_are_refused) {
  EXPECT_NE(run_command("noise --seconds 0.1 --delays 1us").status, 0);
  EXPECT_NE(run_command("noise --seconds 0.1 --picture file.svg").status, 0);
  EXPECT_NE(run_command("noise --seconds 0.1 -- true").status, 0);
}

TEST(noise_command, says_that_events_were_not_recorded) {
  const answer got = run_command("noise --seconds 0.2 --no-events --explain --detour 50");
  EXPECT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("were not recorded")) << got.text;
  EXPECT_FALSE(got.has("no event of the kernel")) << got.text;
}

}  // namespace
