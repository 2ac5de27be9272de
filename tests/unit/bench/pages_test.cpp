// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/pages.hpp"

#include <gtest/gtest.h>

#include <set>

namespace shoal::bench {
namespace {

TEST(pages, the_cycle_goes_through_each_line_once) {
  std::vector<std::uint64_t> table(8 * 100);
  make_cycle(table, 5);
  std::set<std::uint64_t> seen;
  std::uint64_t at = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(seen.insert(at).second);
    EXPECT_EQ(at % 8, 0U);
    at = follow(table, at, 1);
  }
  EXPECT_EQ(at, 0U);
  EXPECT_EQ(follow(table, 0, 100), 0U);
}

TEST(pages, updates_are_all_there_and_spread) {
  std::vector<std::uint64_t> table(1000);
  update_at_random(table, 100'000, 3);
  EXPECT_EQ(sum_of(table), 100'000U);
  for (const std::uint64_t n : table) EXPECT_GT(n, 30U);
  EXPECT_EQ(sum_of(std::vector<std::uint64_t>{1, 2, 3, 4, 5}), 15U);
}

TEST(pages, the_picture_has_a_line_per_loop) {
  page_row r;
  r.bytes = 1 << 20;
  r.chase_ns[0] = r.update_ns[0] = 20;
  r.chase_ns[1] = r.update_ns[1] = 10;
  r.stream_gbs[0] = r.stream_gbs[1] = 8;
  const std::string svg = pages_picture({r, r});
  EXPECT_NE(svg.find("random updates"), std::string::npos);
  EXPECT_NE(svg.find("<path"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace shoal::bench
