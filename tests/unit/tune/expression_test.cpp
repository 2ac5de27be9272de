// SPDX-License-Identifier: Apache-2.0
#include "tune/expression.hpp"

#include <gtest/gtest.h>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

double value(const std::string& text) {
  return expression(text).value([](std::string_view name) { return name == "a" ? 6.0 : 4.0; });
}

TEST(expression, has_the_precedence_of_c) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("16 / 4 / 2"), 2);
  EXPECT_EQ(value("-a + 7"), 1);
  EXPECT_EQ(value("a * b <= 24 && a % 4 == 2"), 1);
  EXPECT_EQ(value("a < b || !(b >= 5)"), 1);
  EXPECT_EQ(value("1.5e1 > a != 0"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
}

TEST(expression, nothing_is_true_of_a_division_by_zero) {
  const auto value = [](const char* text) { return expression(text).value([](std::string_view) { return 0.0; }); };
  for (const char* const text : {"1 / a > 1", "1 / a < 1", "1 / a != 1", "1 / a == 1 / a", "1 % a >= 0", "1 / a && 1"})
    EXPECT_FALSE(is_true(value(text))) << text;
  EXPECT_FALSE(is_true(value("1 / a")));
  EXPECT_TRUE(is_true(value("1 / a > 1 || a == 0")));
}

TEST(expression, knows_its_names) {
  const expression e("grain * tile <= 65536");
  ASSERT_EQ(e.names().size(), 2U);
  EXPECT_EQ(e.names()[0], "grain");
}

TEST(expression, what_is_none_is_refused_with_its_place) {
  for (const char* text : {"", "a +", "(a", "a b", "a $ 3", "* 3", "a <= ", ")", "..", "a = 3"})
    EXPECT_THROW(expression{text}, error) << text;
  EXPECT_THROW(expression(std::string(1000, '(')), error);
  EXPECT_THROW(expression(std::string(100'000, '-')), error);
  try {
    expression("a + + b )");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("place"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace shoal::tune
