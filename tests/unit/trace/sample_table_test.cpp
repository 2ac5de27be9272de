// SPDX-License-Identifier: Apache-2.0
#include "trace/sample_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace shoal::trace {
namespace {

std::vector<std::uint64_t> stack(std::uint64_t leaf, std::size_t depth) {
  std::vector<std::uint64_t> frames(depth, 0x1000);
  frames[0] = leaf;
  return frames;
}

TEST(sample_table, the_same_stack_is_counted_once) {
  const auto memory = std::make_unique<std::array<stack_sample, 64>>();
  sample_table t(*memory);
  for (int i = 0; i < 3; ++i) t.add(stack(1, 5), 10);
  t.add(stack(2, 5), 1);
  t.add(stack(1, 4), 1);  // another one: it is not as deep
  std::size_t stacks = 0;
  for (const stack_sample& s : t.all()) {
    if (s.count == 0) continue;
    ++stacks;
    const bool first = s.depth == 5 && s.frames[0] == 1;
    EXPECT_EQ(s.count, first ? 3U : 1U);
    EXPECT_EQ(s.ns, first ? 30U : 1U);
  }
  EXPECT_EQ(stacks, 3U);
}

TEST(sample_table, what_has_no_room_is_collected_in_the_last_place) {
  const auto memory = std::make_unique<std::array<stack_sample, 16>>();
  sample_table t(*memory);
  for (std::uint64_t i = 0; i < 1000; ++i) t.add(stack(i, 3), 7);
  std::uint64_t count = 0;
  for (const stack_sample& s : t.all()) count += s.count;
  EXPECT_EQ(count, 1000U);
  EXPECT_EQ(t.all().back().count, 1000U - 15U);
  EXPECT_EQ(t.all().back().ns, (1000U - 15U) * 7U);
}

TEST(sample_table, a_stack_that_is_too_deep_keeps_its_inner_part) {
  const auto memory = std::make_unique<std::array<stack_sample, 2>>();
  sample_table t(*memory);
  t.add(stack(9, 200), 1);
  EXPECT_EQ(t.all()[0].depth, stack_sample::k_most_frames);
  EXPECT_EQ(t.all()[0].frames[0], 9U);
}

}  // namespace
}  // namespace shoal::trace
