// SPDX-License-Identifier: Apache-2.0
#include "base/shorten.hpp"

#include <gtest/gtest.h>

#include <string>

namespace shoal::base {
namespace {

TEST(shorten, leaves_what_fits) {
  EXPECT_EQ(shortened("short; do it", 12), "short; do it");
  EXPECT_EQ(shortened("", 12), "");
}

TEST(shorten, keeps_beginning_and_advice_and_marks_the_middle) {
  const std::string text = "the file " + std::string(500, 'a') + " is wrong; give another one";
  const std::string shorter = shortened(text, 100);
  EXPECT_EQ(shorter.size(), 100U);
  EXPECT_EQ(shorter.find("the file aaa"), 0U);
  EXPECT_NE(shorter.find("a [...] a"), std::string::npos);
  EXPECT_TRUE(shorter.ends_with("is wrong; give another one")) << shorter;
}

TEST(shorten, gives_a_long_advice_more_than_half) {
  const std::string advice = "; do " + std::string(55, 'b');
  const std::string shorter = shortened(std::string(500, 'a') + advice, 100);
  EXPECT_EQ(shorter.size(), 100U);
  EXPECT_TRUE(shorter.ends_with(advice)) << shorter;
  EXPECT_TRUE(shorter.starts_with("aaaa")) << shorter;
}

TEST(shorten, does_not_divide_a_character) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\xc3\xa4";
  for (std::size_t bytes = 30; bytes < 60; ++bytes) {
    const std::string shorter = shortened(text, bytes);
    EXPECT_LE(shorter.size(), bytes);
    const auto mark = shorter.find(k_omission);
    ASSERT_NE(mark, std::string::npos);
    EXPECT_EQ(mark % 2, 0U) << shorter;
    EXPECT_EQ((shorter.size() - mark - k_omission.size()) % 2, 0U) << shorter;
  }
}

TEST(shorten, cuts_where_there_is_no_room_for_a_mark) { EXPECT_EQ(shortened("abcdefgh", 3), "abc"); }

}  // namespace
}  // namespace shoal::base
