// SPDX-License-Identifier: Apache-2.0
#include "base/thrown.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "shoal/error.hpp"

namespace shoal::base {
namespace {

struct odd {};

template <class T>
std::string sentence_of(T&& value) {
  try {
    throw std::forward<T>(value);
  } catch (...) {
    return sentence_of_thrown();
  }
}
template <class T>
thrown described(T&& value) {
  try {
    throw std::forward<T>(value);
  } catch (...) {
    return describe_thrown();
  }
}

TEST(thrown, has_type_and_message) {
  EXPECT_EQ(described(std::out_of_range("far")).type, "std::out_of_range");
  EXPECT_EQ(described(std::out_of_range("far")).message, "far");
  EXPECT_EQ(described(error(errc::timeout, "late")).type, "shoal::error");
  EXPECT_EQ(described(42).type, "int");
  EXPECT_EQ(described(42).message, "42");
  EXPECT_EQ(described(std::string("text")).message, "text");
  EXPECT_NE(described(odd{}).type.find("odd"), std::string::npos);
  EXPECT_EQ(described(odd{}).message, "");
}

TEST(thrown, is_told_in_a_sentence) {
  EXPECT_EQ(sentence_of(std::runtime_error("so it is")), "so it is");
  EXPECT_EQ(sentence_of(-3), "an exception that is no std::exception: int -3");
  const char* const text = "words";
  EXPECT_EQ(sentence_of(text), "an exception that is no std::exception: const char* words");
  EXPECT_EQ(sentence_of(odd{}).find("an exception that is no std::exception: shoal::base::"), 0U);
}

}  // namespace
}  // namespace shoal::base
