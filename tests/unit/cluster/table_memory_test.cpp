// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/table_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::detail {
namespace {

TEST(table_memory, blocks_are_apart_and_go_back) {
  table_memory memory;
  xoshiro256ss random(1);
  struct block {
    unsigned char* at;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<block> blocks;
  const auto free_one = [&](std::size_t i) {
    const block b = blocks[i];
    for (std::size_t at = 0; at < b.bytes; at += 1000) ASSERT_EQ(b.at[at], b.mark) << "others have written here";
    ASSERT_EQ(b.at[b.bytes - 1], b.mark);
    memory.free(b.at, b.bytes);
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int step = 0; step < 600; ++step) {
    if (!blocks.empty() && random.below(5) < 2) {
      free_one(random.below(blocks.size()));
      continue;
    }
    const std::size_t bytes = (std::size_t{17} << (8 + random.below(10))) + random.below(2);
    const auto mark = static_cast<unsigned char>(step);
    auto* const at = static_cast<unsigned char*>(memory.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
    std::memset(at, mark, bytes);
    blocks.push_back({at, bytes, mark});
  }
  EXPECT_GT(memory.bytes(), 0U);
  while (!blocks.empty()) free_one(blocks.size() - 1);
  EXPECT_EQ(memory.bytes(), 0U);
}

}  // namespace
}  // namespace shoal::detail
