// SPDX-License-Identifier: Apache-2.0
#include "machine/library.hpp"

#include <gtest/gtest.h>

#include <shoal/error.hpp>
#include <string>

namespace shoal::machine {
namespace {

TEST(library, a_function_of_a_loaded_library_can_be_called) {
  void* const math = load_library("libm.so.6", false);
  auto* const cube_root = reinterpret_cast<double (*)(double)>(find_symbol(math, "cbrt"));
  ASSERT_NE(cube_root, nullptr);
  EXPECT_DOUBLE_EQ(cube_root(27.0), 3.0);
  EXPECT_EQ(find_symbol(math, "there_is_no_such_function"), nullptr);
}

TEST(library, what_cannot_be_loaded_is_refused_with_the_reason) {
  try {
    load_library("libshoal_is_not_called_this.so", false);
    FAIL();
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::unsupported);
    EXPECT_NE(std::string(refused.what()).find("libshoal_is_not_called_this.so"), std::string::npos) << refused.what();
  }
}

}  // namespace
}  // namespace shoal::machine
