// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace shoal::runtime {
namespace {

std::vector<node_memory> two_nodes() {
  std::vector<node_memory> nodes(2);
  for (std::uint32_t n = 0; n < 2; ++n) {
    nodes[n].node = n + 5;
    nodes[n].use.arrays = {std::uint64_t{1} << 20, std::uint64_t{2} << 20};
    nodes[n].use.holders = {{"array of 9 elements of 8 bytes", "ranks", "src/a.cpp:3", 1, {1 << 20, 1 << 20}}};
  }
  nodes[1].use.registrations = 2;
  nodes[1].use.registered_bytes = 4096;
  return nodes;
}

TEST(memory_answer, comes_back_as_it_was) {
  const auto back = parse_memories(to_text(two_nodes()));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ((*back)[1].node, 6U);
  EXPECT_EQ((*back)[1].use.registered_bytes, 4096U);
  EXPECT_EQ((*back)[0].use.holders.at(0).name, "ranks");
  EXPECT_EQ(parse_memories("")->size(), 0U);
}

TEST(memory_answer, of_another_form_is_refused) {
  const std::string whole = to_text(two_nodes());
  for (const std::string& bad :
       {std::string("x"), std::string("node\t"), std::string("node\t1"), std::string("node\t1\n"),
        std::string("node\t1\nnode\t2\n"), "node\tx\n" + whole, whole + "node\t7\nholder\t1\n"})
    EXPECT_FALSE(parse_memories(bad)) << bad;
}

TEST(memory_answer, is_a_line_per_node_and_the_holders_of_all) {
  const std::string table = table_of(two_nodes());
  EXPECT_NE(table.find("1.0 MiB (2.0 MiB)"), std::string::npos) << table;
  EXPECT_NE(table.find("4.0 KiB in 2"), std::string::npos) << table;
  EXPECT_NE(table.find("2.0 MiB  'ranks', array of 9 elements of 8 bytes, made at src/a.cpp:3 (2 parts)"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace shoal::runtime
