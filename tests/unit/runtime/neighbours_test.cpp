// SPDX-License-Identifier: Apache-2.0
#include "runtime/neighbours.hpp"

#include <gtest/gtest.h>

#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

visiting_card card(const std::string& where, unsigned processors, std::uint64_t bytes = 1 << 20) {
  visiting_card c;
  c.neighbourhood = where;
  c.processors = processors;
  c.segment_bytes = bytes;
  return c;
}

TEST(visiting_card, travels_as_bytes) {
  visiting_card c = card("boot pid:1 net:2 uid:0", 7, 12345);
  c.pid = 99;
  c.segment = 5;
  c.world = -1;
  const visiting_card read = visiting_card::read(c.bytes());
  EXPECT_EQ(read.neighbourhood, c.neighbourhood);
  EXPECT_EQ(read.processors, 7U);
  EXPECT_EQ(read.segment_bytes, 12345U);
  EXPECT_EQ(read.pid, 99);
  EXPECT_EQ(read.segment, 5);
  EXPECT_EQ(read.world, -1);
  auto cut = c.bytes();
  cut.resize(cut.size() / 2);
  EXPECT_THROW(visiting_card::read(cut), error);
  EXPECT_THROW(visiting_card::read({}), error);
}

TEST(neighbours, who_is_where_and_how_many_workers_fit_everywhere) {
  const neighbours all({card("a", 8, 300), card("b", 2, 200), card("a", 8, 300), card("a", 8, 300)}, 2);
  EXPECT_TRUE(all.here(0));
  EXPECT_FALSE(all.here(1));
  EXPECT_FALSE(all.all_here());
  EXPECT_EQ(all.machines(), 2U);
  EXPECT_EQ(all.nodes_beside(3), 3U);
  EXPECT_EQ(all.nodes_beside(1), 1U);
  EXPECT_EQ(all.index_of(0), 0U);
  EXPECT_EQ(all.index_of(1), 0U);
  EXPECT_EQ(all.index_of(3), 2U);
  EXPECT_EQ(all.workers(), 2U);
  EXPECT_EQ(all.segment_bytes(), 200U);
  EXPECT_TRUE(neighbours({card("a", 1), card("a", 1)}, 0).all_here());
  EXPECT_EQ(neighbours({card("a", 1), card("a", 1)}, 0).workers(), 1U);
}

}  // namespace
}  // namespace shoal::runtime
