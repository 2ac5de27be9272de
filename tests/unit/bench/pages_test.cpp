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

page_row row_with(double slower) {
  page_row r;
  r.bytes = 1 << 20;
  for (std::size_t w = 0; w < k_page_workloads.size(); ++w) {
    r.cells[w][0] = {k_page_workloads[w].more_is_better ? 8 / slower : 10 * slower, {}, 0};
    r.cells[w][1] = {k_page_workloads[w].more_is_better ? 8.0 : 10.0, {}, 0.75};
  }
  return r;
}

TEST(pages, a_slowdown_is_above_one_where_ordinary_pages_are_slower) {
  const page_row r = row_with(2);
  for (std::size_t w = 0; w < k_page_workloads.size(); ++w) {
    EXPECT_DOUBLE_EQ(slowdown(r, w, 1), 2) << w;
    EXPECT_DOUBLE_EQ(slowdown(r, w, 2), 0) << w;  // not measured
  }
}

TEST(pages, the_table_has_what_was_measured_and_given) {
  const std::string text = pages_table({row_with(2)});
  for (const page_workload& w : k_page_workloads) EXPECT_NE(text.find(w.title), std::string::npos) << text;
  EXPECT_NE(text.find("2.00    75%"), std::string::npos) << text;
  EXPECT_EQ(text.find("1 GiB"), std::string::npos) << text;
  EXPECT_EQ(text.find("TLB"), std::string::npos) << text;
  EXPECT_NE(text.find("from 1.0 MiB on"), std::string::npos) << text;
  EXPECT_NE(pages_table({row_with(1)}).find("cost less than 2 %"), std::string::npos);

  page_row counted = row_with(2);
  counted.cells[0][0].misses = 0.875;
  counted.cells[0][1].misses = 0.125;
  counted.cells[0][2] = {5, 0.0, 1};
  const std::string more = pages_table({counted});
  EXPECT_NE(more.find("1 GiB"), std::string::npos) << more;
  EXPECT_NE(more.find("   0.875    0.125    0.000"), std::string::npos) << more;
}

TEST(pages, the_picture_has_a_line_per_workload_that_was_measured) {
  const std::string svg = pages_picture({row_with(2), row_with(3)});
  for (const page_workload& w : k_page_workloads) EXPECT_NE(svg.find(w.in_picture), std::string::npos);
  EXPECT_NE(svg.find("<path"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  page_row loops = row_with(2);
  for (std::size_t w = k_page_loops; w < k_page_workloads.size(); ++w) loops.cells[w] = {};
  EXPECT_EQ(pages_picture({loops}).find("gather"), std::string::npos);
  EXPECT_EQ(pages_picture({}).find("<path"), std::string::npos);
}

TEST(pages, loops_and_kernels_are_right_and_small_pages_small) {
  constexpr std::size_t k_bytes = std::size_t{4} << 20;
  const page_loops loops(k_bytes, machine::page_choice::small);
  for (std::size_t w = 0; w < k_page_loops; ++w) {
    const page_sample s = loops.run(w, 0.001);
    EXPECT_TRUE(s.right);
    EXPECT_GT(s.value, 0);
    EXPECT_EQ(s.given, 0);
  }
  for (const auto pages : {machine::page_choice::small, machine::page_choice::huge}) {
    for (const page_sample& s : run_page_kernels(k_bytes, pages, 0.001)) {
      EXPECT_TRUE(s.right);
      EXPECT_GT(s.value, 0);
      if (pages == machine::page_choice::small) {
        EXPECT_EQ(s.given, 0);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::bench
