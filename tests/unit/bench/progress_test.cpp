// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.hpp"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(progress, line_shows_share_and_text) {
  EXPECT_EQ(progress::line(0, 4, "reading"), "[........................]   0%  reading");
  EXPECT_EQ(progress::line(1, 4, "reading"), "[######..................]  25%  reading");
  EXPECT_EQ(progress::line(4, 4, "done"), "[########################] 100%  done");
}

TEST(progress, more_than_all_is_all) { EXPECT_EQ(progress::line(9, 4, "x"), progress::line(4, 4, "x")); }

TEST(progress, without_steps_there_is_only_text) { EXPECT_EQ(progress::line(3, 0, "building"), "building"); }

TEST(progress, is_silent_where_there_is_no_terminal) {
  testing::internal::CaptureStderr();
  {
    progress line(3, false);
    line.show(1, "one");
    line.clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(progress, erases_its_line_at_the_end) {
  testing::internal::CaptureStderr();
  {
    progress line(2, true);
    line.show(1, "half");
    line.show(2, "too soon to be shown");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\033[K" + progress::line(1, 2, "half") + "\r\033[K");
}

}  // namespace
}  // namespace shoal::bench
