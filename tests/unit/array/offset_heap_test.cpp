// SPDX-License-Identifier: Apache-2.0
#include "array/offset_heap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>

#include "machine/memory_info.hpp"
#include "shoal/random.hpp"

namespace shoal::array {
namespace {

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

TEST(offset_heap, large_leases_begin_on_2_mib_and_small_ones_on_pages) {
  offset_heap heap(64 * k_mib);
  const auto small = heap.lease(100);
  const auto large = heap.lease(3 * k_mib);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(*small % machine::page_size(), 0U);
  EXPECT_EQ(*large % machine::k_huge_page_bytes, 0U);
  EXPECT_EQ(offset_heap::rounded(100), machine::page_size());
  EXPECT_EQ(offset_heap::rounded(3 * k_mib), 4 * k_mib);
  EXPECT_GE(offset_heap::rounded(0), 1U);
}

TEST(offset_heap, what_does_not_fit_is_refused_and_leaves_all_as_it_was) {
  offset_heap heap(8 * k_mib);
  EXPECT_FALSE(heap.lease(9 * k_mib).has_value());
  EXPECT_EQ(heap.largest_free(), 8 * k_mib);
  const auto all = heap.lease(8 * k_mib);
  ASSERT_TRUE(all.has_value());
  EXPECT_FALSE(heap.lease(1).has_value());
  EXPECT_EQ(heap.largest_free(), 0U);
  heap.release(*all, 8 * k_mib);
  EXPECT_EQ(heap.largest_free(), 8 * k_mib);
}

TEST(offset_heap, absurd_sizes_are_refused) {
  offset_heap heap(8 * k_mib);
  EXPECT_FALSE(heap.lease(~std::uint64_t{0} - 4096).has_value());
  EXPECT_FALSE(heap.lease(~std::uint64_t{0}).has_value());
  EXPECT_EQ(heap.largest_free(), 8 * k_mib);
}

TEST(offset_heap, freed_neighbours_join) {
  offset_heap heap(8 * k_mib);
  const auto a = heap.lease(2 * k_mib);
  const auto b = heap.lease(2 * k_mib);
  const auto c = heap.lease(2 * k_mib);
  const auto d = heap.lease(2 * k_mib);
  ASSERT_TRUE(a && b && c && d);
  heap.release(*b, 2 * k_mib);
  heap.release(*d, 2 * k_mib);
  EXPECT_EQ(heap.largest_free(), 2 * k_mib);
  heap.release(*c, 2 * k_mib);
  EXPECT_EQ(heap.largest_free(), 6 * k_mib);
  heap.release(*a, 2 * k_mib);
  EXPECT_EQ(heap.largest_free(), 8 * k_mib);
}

TEST(offset_heap, random_leases_never_overlap_and_all_comes_back) {
  constexpr std::uint64_t k_capacity = 512 * k_mib;
  offset_heap heap(k_capacity);
  xoshiro256ss random(11);
  std::map<std::uint64_t, std::uint64_t> leased;  // offset to bytes asked for
  int refused = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random.below(100) < 55) {
      const std::uint64_t bytes = random.below(4) == 0 ? random.below(40 * k_mib) + 1 : random.below(100'000) + 1;
      const auto at = heap.lease(bytes);
      if (!at) {
        ++refused;
        continue;
      }
      ASSERT_LE(*at + bytes, k_capacity);
      const auto next = leased.lower_bound(*at);
      if (next != leased.end()) {
        ASSERT_LE(*at + bytes, next->first);
      }
      if (next != leased.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *at);
      }
      leased.emplace(*at, bytes);
    } else if (!leased.empty()) {
      auto victim = leased.lower_bound(random.below(k_capacity));
      if (victim == leased.end()) victim = leased.begin();
      heap.release(victim->first, victim->second);
      leased.erase(victim);
    }
  }
  EXPECT_GT(refused, 0);
  for (const auto& [at, bytes] : leased) heap.release(at, bytes);
  EXPECT_EQ(heap.largest_free(), k_capacity);
}

}  // namespace
}  // namespace shoal::array
