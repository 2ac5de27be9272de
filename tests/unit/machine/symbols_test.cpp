// SPDX-License-Identifier: Apache-2.0
#include "machine/symbols.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace shoal::machine {
namespace {

const int sentence = 1;
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

TEST(symbols, know_what_is_in_the_same_file) {
  const void* const here = reinterpret_cast<const void*>(&not_exported);
  EXPECT_TRUE(symbols::in_same_file(here, &sentence));
  EXPECT_FALSE(symbols::in_same_file(here, reinterpret_cast<const void*>(&std::puts)));
  EXPECT_FALSE(symbols::in_same_file(here, nullptr));
}

TEST(symbols, names_where_a_call_is) {
  symbols names;
  const std::string place = names.call_at(static_cast<const char*>(reinterpret_cast<const void*>(&not_exported)) + 1);
  EXPECT_NE(place.find("not_exported(int)"), std::string::npos) << place;
  EXPECT_EQ(names.call_at(nullptr).rfind("the code at", 0), 0U);
}

}  // namespace
}  // namespace shoal::machine
