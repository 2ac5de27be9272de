// SPDX-License-Identifier: Apache-2.0
#include "machine/description.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/memory_info.hpp"

namespace shoal::machine {
namespace {

std::string text_of(const std::vector<fact>& facts, const std::string& name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&name](const fact& one) { return one.name == name; });
  return found == facts.end() ? "(missing)" : found->text;
}

TEST(description, a_synthetic_machine_is_told_as_it_is) {
  const auto facts = describe_machine(topology::synthetic("package:2 l3:1 core:4 pu:2", 3.5));
  EXPECT_EQ(text_of(facts, "processors"), "16 on 8 cores, 2 packages, 1 NUMA node");
  EXPECT_EQ(text_of(facts, "may use"), "processors 0-15");
  EXPECT_EQ(text_of(facts, "quota"), "3.50 processors");
  EXPECT_NE(text_of(facts, "caches").find("shared by 8"), std::string::npos) << text_of(facts, "caches");
}

TEST(description, this_machine_tells_memory_and_pages) {
  const auto facts = describe_machine(topology::discover());
  EXPECT_EQ(text_of(facts, "page"), describe_bytes(page_size()));
  EXPECT_EQ(text_of(facts, "memory").find(describe_bytes(memory_info().total_bytes)), 0U);
  for (const fact& one : facts) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_FALSE(one.text.empty()) << one.name;
  }
}

}  // namespace
}  // namespace shoal::machine
