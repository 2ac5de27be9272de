// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/assert.hpp"

#include <gtest/gtest.h>

#include <string>

// A second definition as a checked build has it, whatever this build is.
#pragma push_macro("SHOAL_CHECK")
#undef SHOAL_CHECK
#define SHOAL_CHECK(cond, sentence) SHOAL_ASSERT(cond, sentence)
namespace {
void check_as_checked_builds_do(bool holds) { SHOAL_CHECK(holds, "checked"); }
}  // namespace
#pragma pop_macro("SHOAL_CHECK")

namespace {

int calls = 0;
bool count_and(bool result) {
  ++calls;
  return result;
}

void sixty_four(int x) { SHOAL_ASSERT(x == 64, "x must be sixty-four"); }

TEST(assert_death, names_sentence_place_and_function) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  sixty_four(64);
  EXPECT_DEATH(sixty_four(65),
               "^shoal: assertion failed: x must be sixty-four \\(.*assert_test.cpp:[0-9]+, sixty_four\\)\n");
}

TEST(assert_death, check_fails_in_checked_builds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  check_as_checked_builds_do(true);
  EXPECT_DEATH(check_as_checked_builds_do(false), "assertion failed: checked");
}

TEST(assert_death, a_long_sentence_is_shortened_and_the_place_stays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static const std::string sentence = std::string(2000, 'x') + "; do this";
  EXPECT_DEATH(
      SHOAL_ASSERT(calls < 0, sentence.c_str()),
      "failed: xxx.*x \\[\\.\\.\\.\\] x.*xx; do this \\(.*assert_test.cpp:[0-9]+, TestBody\\)\n(qemu: [^\n]*\n)?$");
}

TEST(assert, evaluates_its_condition_once) {
  calls = 0;
  SHOAL_ASSERT(count_and(true), "true");
  EXPECT_EQ(calls, 1);
}

TEST(assert, check_evaluates_only_in_checked_builds) {
  calls = 0;
  SHOAL_CHECK(count_and(true), "true");
#ifdef SHOAL_CHECKED
  EXPECT_EQ(calls, 1);
#else
  EXPECT_EQ(calls, 0);
  SHOAL_CHECK(count_and(false), "not evaluated, so not fatal");
#endif
}

TEST(assert, is_one_statement) {
  if (calls >= 0)
    SHOAL_ASSERT(true, "true");
  else
    SHOAL_ASSERT(false, "the else belongs to the if");
}

}  // namespace
