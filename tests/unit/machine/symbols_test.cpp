// SPDX-License-Identifier: Apache-2.0
#include "machine/symbols.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace shoal::machine {
namespace {

[[gnu::noinline]] int not_exported(int x) { return x + 1; }

TEST(symbols, names_functions_that_are_not_exported_and_those_of_libraries) {
  symbols names;
  EXPECT_EQ(names.name_of(reinterpret_cast<const void*>(&not_exported)),
            "shoal::machine::(anonymous namespace)::not_exported(int)");
  EXPECT_NE(names.name_of(reinterpret_cast<const void*>(&std::puts)).find("puts"), std::string::npos);
  const int data = 0;
  EXPECT_EQ(names.name_of(&data), "");
  EXPECT_EQ(names.name_of(nullptr), "");
}

TEST(symbols, a_place_is_a_file_and_an_offset) {
  EXPECT_NE(symbols::place_of(reinterpret_cast<const void*>(&not_exported)).find("unit_machine+0x"), std::string::npos);
}

}  // namespace
}  // namespace shoal::machine
