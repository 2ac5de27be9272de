// SPDX-License-Identifier: Apache-2.0
#include "array/memory_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/detail/call.hpp"
#include "shoal/random.hpp"

namespace {

using namespace shoal;
using array::parse_memory;
using array::to_text;

memory_usage example() {
  memory_usage u;
  u.nodes = 3;
  u.array_count = 4;
  u.arrays = {100, 200};
  u.tables = {10, 20};
  u.stacks = 64;
  u.stack_resident_bytes = 5;
  u.buffer_reserved_bytes = 77;
  u.registrations = 2;
  u.registered_bytes = 9;
  u.usable_bytes = 1000;
  u.holders = {{"array of 5 elements of 8 bytes", "ra\tn\nks", "src/a.cpp:3", 2, {80, 90}},
               {"global_map", "", "", 1, {20, 20}}};
  return u;
}

TEST(memory_text, comes_back_as_it_was) {
  const auto back = parse_memory(to_text(example()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->nodes, 3U);
  EXPECT_EQ(back->arrays.most_bytes, 200U);
  EXPECT_EQ(back->stacks, 64U);
  EXPECT_EQ(back->registered_bytes, 9U);
  EXPECT_EQ(back->usable_bytes, 1000U);
  ASSERT_EQ(back->holders.size(), 2U);
  EXPECT_EQ(back->holders[0].name, "ra n ks");
  EXPECT_EQ(back->holders[0].count, 2U);
  EXPECT_EQ(back->holders[0].memory.most_bytes, 90U);
  EXPECT_EQ(back->holders[1].what, "global_map");
}

TEST(memory_text, fits_into_an_answer_however_long_the_names_are) {
  memory_usage u = example();
  for (int i = 0; i < 100; ++i) u.holders.push_back({std::string(5000, 'w'), std::string(5000, 'n'), "p", 1, {1, 1}});
  EXPECT_LT(to_text(u).size(), 8 * (detail::k_most_call_words - 1));
  EXPECT_TRUE(parse_memory(to_text(u)));
}

TEST(memory_text, of_another_form_is_refused) {
  const std::string whole = to_text(example());
  for (const std::string& bad : {std::string("memory"), std::string("memory\t1"), "holder\t1\t1\t1\ta\tb\tc\n" + whole,
                                 whole + "other\t1\n", whole + "holder\t1\t1\tx\ta\tb\tc\n", whole + whole})
    EXPECT_FALSE(parse_memory(bad)) << bad;
  splitmix64 bits(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[bits() % damaged.size()] = static_cast<char>(bits() % 128);
    const auto got = parse_memory(damaged);
    EXPECT_TRUE(!got || got->holders.size() <= memory_usage::k_most_holders);
  }
}

TEST(memory_text, sums_nodes_and_merges_what_is_alike) {
  memory_usage all = example();
  array::add(all, example());
  EXPECT_EQ(all.nodes, 6U);
  EXPECT_EQ(all.arrays.bytes, 200U);
  EXPECT_EQ(all.usable_bytes, 1000U);
  ASSERT_EQ(all.holders.size(), 2U);
  EXPECT_EQ(all.holders[0].memory.bytes, 160U);
  EXPECT_EQ(all.holders[0].count, 4U);
  std::vector<memory_holder> many;
  for (std::uint64_t i = 0; i < 100; ++i) many.push_back({"array", std::to_string(i), "", 1, {i, i}});
  array::merge_holders(all.holders, many);
  ASSERT_EQ(all.holders.size(), memory_usage::k_most_holders);
  EXPECT_EQ(all.holders[0].memory.bytes, 160U);
  EXPECT_EQ(all.holders[1].name, "99");
  EXPECT_NE(describe(all).find("'99', array"), std::string::npos) << describe(all);
  EXPECT_NE(describe(all).find("(4 parts)"), std::string::npos) << describe(all);
}

}  // namespace
