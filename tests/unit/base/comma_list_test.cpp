// SPDX-License-Identifier: Apache-2.0
#include "base/comma_list.hpp"

#include <gtest/gtest.h>

namespace shoal::base {
namespace {

TEST(comma_list, is_split_outside_of_parentheses) {
  using words = std::vector<std::string>;
  EXPECT_EQ(split_list("a"), (words{"a"}));
  EXPECT_EQ(split_list("nearest(50,3,1),random"), (words{"nearest(50,3,1)", "random"}));
  EXPECT_EQ(split_list("f(g(1,2),3),4"), (words{"f(g(1,2),3)", "4"}));
  EXPECT_EQ(split_list("a,,b)"), (words{"a", "", "b)"}));
  EXPECT_EQ(split_list("),1"), (words{")", "1"}));
}

TEST(comma_list, parts_are_trimmed_at_both_ends) {
  EXPECT_EQ(trim(" \t a b\t"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
}

}  // namespace
}  // namespace shoal::base
