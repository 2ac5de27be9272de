// SPDX-License-Identifier: Apache-2.0
#include "machine/zero_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <shoal/error.hpp>
#include <vector>

namespace shoal::machine {
namespace {

TEST(zero_array, reads_zero_and_takes_memory_where_it_is_written) {
  constexpr std::size_t k_count = std::size_t{1} << 20;
  const zero_array<std::uint64_t> a(k_count);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < k_count; i += 100) sum += a[i];
  EXPECT_EQ(sum, 0U);
  EXPECT_EQ(a.resident_bytes(), 0U);
  a[0] = 1;
  a[k_count - 1] = 2;
  EXPECT_EQ(a.resident_bytes(), 2 * page_size());
  EXPECT_EQ(a[0] + a[k_count - 1], 3U);
  EXPECT_EQ(a[1], 0U);
  EXPECT_GE(a.bytes(), k_count * sizeof(std::uint64_t));
}

TEST(zero_array, refuses_what_the_address_space_does_not_hold) {
  EXPECT_THROW(zero_array<std::uint64_t>(std::size_t{1} << 58), error);
}

TEST(zero_list, keeps_what_was_pushed_and_not_taken_out) {
  zero_list<std::uint32_t> list(100);
  EXPECT_TRUE(list.empty());
  for (std::uint32_t i = 0; i < 100; ++i) list.push(i);
  for (std::size_t i = 0; i < list.size();) list[i] % 3 == 0 ? list.take_out(i) : static_cast<void>(++i);
  std::vector<std::uint32_t> left(list.begin(), list.end());
  std::ranges::sort(left);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 100; ++i)
    if (i % 3 != 0) expected.push_back(i);
  EXPECT_EQ(left, expected);
}

}  // namespace
}  // namespace shoal::machine
