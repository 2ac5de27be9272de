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

}  // namespace
}  // namespace shoal::base
