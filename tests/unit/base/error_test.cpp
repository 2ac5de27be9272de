// SPDX-License-Identifier: Apache-2.0
#include "shoal/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

TEST(error, keeps_code_and_sentence) {
  try {
    throw shoal::error(shoal::errc::bad_input, "line 3 holds no number");
  } catch (const std::runtime_error& caught) {
    EXPECT_STREQ(caught.what(), "line 3 holds no number");
    EXPECT_EQ(dynamic_cast<const shoal::error&>(caught).code(), shoal::errc::bad_input);
  }
}

TEST(error, every_code_has_a_name_of_its_own) {
  std::set<std::string> names;
  int count = 0;
  for (int code = 1; code <= static_cast<int>(shoal::errc::internal); ++code, ++count) {
    names.emplace(shoal::to_string(static_cast<shoal::errc>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(shoal::to_string(static_cast<shoal::errc>(0)), "unknown");
}

}  // namespace
