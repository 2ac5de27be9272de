// SPDX-License-Identifier: Apache-2.0
#include "shoal/region.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace shoal {
namespace {

void expect_bytes(const access& a, access_mode mode, const void* begin, std::size_t bytes) {
  EXPECT_EQ(a.mode, mode);
  EXPECT_EQ(a.where.begin, begin);
  EXPECT_EQ(a.where.row_bytes, bytes);
  EXPECT_EQ(a.where.rows, 1U);
}

TEST(region, an_object_means_its_bytes) {
  const double x = 0;
  struct pair {
    int a, b;
  } p{};
  expect_bytes(in(x), access_mode::in, &x, sizeof x);
  expect_bytes(out(p), access_mode::out, &p, sizeof p);
  expect_bytes(commutative(p.b), access_mode::commutative, &p.b, sizeof p.b);
  expect_bytes(inout(p.b), access_mode::inout, &p.b, sizeof p.b);
}

TEST(region, a_contiguous_range_means_its_elements) {
  std::vector<int> v(10);
  std::array<char, 7> a{};
  short c[3] = {};
  expect_bytes(in(std::span(v)), access_mode::in, v.data(), 10 * sizeof(int));
  expect_bytes(inout(a), access_mode::inout, a.data(), 7);
  expect_bytes(out(c), access_mode::out, c, sizeof c);
  expect_bytes(in(std::span(v).subspan(2, 3)), access_mode::in, &v[2], 3 * sizeof(int));
}

TEST(region, what_can_be_resized_is_one_object) {
  std::vector<int> v;
  const std::string s = "text";
  expect_bytes(out(v), access_mode::out, &v, sizeof v);
  expect_bytes(in(s), access_mode::in, &s, sizeof s);
}

TEST(region, arrays_and_blocks_count_in_elements) {
  std::vector<double> m(100);
  const region row = array_region(m.data() + 10, 10);
  EXPECT_EQ(row.row_bytes, 80U);
  const region block = region2d(m.data() + 11, 3, 4, 10);
  EXPECT_EQ(block.begin, &m[11]);
  EXPECT_EQ(block.rows, 3U);
  EXPECT_EQ(block.row_bytes, 32U);
  EXPECT_EQ(block.stride_bytes, 80);
  const region whole = region2d(m.data(), 10, 10, 10);  // rows that touch are one
  EXPECT_EQ(whole.rows, 1U);
  EXPECT_EQ(whole.row_bytes, 800U);
  const region bytes = array_region(static_cast<const void*>(m.data()), 5);
  EXPECT_EQ(bytes.row_bytes, 5U);
}

TEST(region, what_is_const_is_not_written) {
  using detail::is_constant;
  static_assert(is_constant<const int&>() && !is_constant<int&>());
  static_assert(is_constant<std::span<const int>>() && !is_constant<std::span<int>>());
  static_assert(is_constant<const std::vector<int>&>() && !is_constant<std::vector<int>&>());
  static_assert(is_constant<const std::array<int, 3>&>() && !is_constant<const std::span<int>&>());
  const region named = array_region(static_cast<const int*>(nullptr), 3);  // whose type does not say it
  EXPECT_EQ(out(named).where.row_bytes, 3 * sizeof(int));
}

}  // namespace
}  // namespace shoal
