// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_region.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fiber/stack_classes.hpp"
#include "fiber/stack_pool.hpp"
#include "machine/memory_info.hpp"
#include "shoal/error.hpp"

namespace shoal::fiber {
namespace {

constexpr std::size_t k_size_bytes = 64 << 10;

void unused() noexcept { std::abort(); }

std::size_t mappings_of_this_process() {
  std::ifstream in("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) ++count;
  return count;
}

TEST(stack_region, any_stack_size_gives_as_many_stacks_as_it_says) {
  stack_region region(20'000, 64, 32);
  EXPECT_GE(region.stack_bytes(), 20'000U);
  EXPECT_EQ(region.lease(), 0U);
  EXPECT_EQ(region.lease(), 32U);
  EXPECT_EQ(region.lease(), stack_region::k_none);
  region.commit(32);
  *region.bottom(63) = std::byte{1};
  *(region.top(63) - 1) = std::byte{1};
  EXPECT_EQ((region.bottom(1) - region.bottom(0)) / static_cast<std::ptrdiff_t>(machine::page_size()) % 2, 1);
}

TEST(stack_region, says_once_when_mappings_for_guards_run_out) {
  stack_region region(4096, stack_region::k_most_mapped_guards * 2, 32, guard_kind::mapped);
  stack_pool pool(region, nullptr, unused);
  testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < stack_region::k_most_mapped_guards; ++i) ASSERT_NE(pool.take(), nullptr);
  EXPECT_TRUE(region.has_guards());
  EXPECT_FALSE(pool.unguarded());
  for (std::size_t i = 0; i < stack_region::k_most_mapped_guards; ++i) ASSERT_NE(pool.take(), nullptr);
  EXPECT_FALSE(region.has_guards());
  EXPECT_TRUE(pool.unguarded());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("from the 2049th on"), std::string::npos) << said;
  EXPECT_EQ(said.find("no guard"), said.rfind("no guard")) << said;
}

TEST(stack_region, on_large_pages_stacks_lie_close_together_without_guards_and_keep_their_memory) {
  testing::internal::CaptureStderr();
  stack_region region(k_size_bytes, 1024, 64, guard_kind::marked, {machine::page_kind::huge, 0, {}});
  EXPECT_TRUE(region.on_large_pages());
  EXPECT_FALSE(region.has_guards());
  EXPECT_LE(region.stack_bytes() + region.guard_bytes(), k_size_bytes + 2 * machine::page_size());
  stack_pool pool(region, nullptr, unused);
  std::vector<fiber*> fibers;
  for (int i = 0; i < 300; ++i) fibers.push_back(pool.take());
  EXPECT_TRUE(pool.unguarded());
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    ASSERT_NE(fibers[i], nullptr);
    std::byte* const bottom = region.bottom(fibers[i]->stack);
    for (std::size_t at = 0; at + 8192 < region.stack_bytes(); at += 4096) bottom[at] = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < fibers.size(); ++i)
    EXPECT_EQ(region.bottom(fibers[i]->stack)[4096], static_cast<std::byte>(i)) << i;
  const stack_usage full = region.usage();
  EXPECT_GE(full.resident_bytes, 300 * k_size_bytes * 3 / 4);
  if (machine::private_page_facts().why_not_transparent.empty()) {
    EXPECT_GT(full.huge_bytes, 0U);
  }
  for (fiber* const f : fibers) pool.put(f);
  pool.trim(0, fibers.size());
  EXPECT_EQ(region.usage().resident_bytes, full.resident_bytes);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // no guards were asked for: no warning
}

TEST(stack_region, of_the_pool_begins_with_a_whole_page_or_is_refused) {
  const machine::page_plan plan{machine::page_kind::huge, machine::k_huge_page_bytes, {}};
  if (machine::read_page_pool(plan.pool_page_bytes).free_pages == 0) {
    EXPECT_THROW(stack_region(k_size_bytes, 64, 1, guard_kind::marked, plan), error);
    return;
  }
  stack_region region(16 << 10, 64, 1, guard_kind::marked, plan);
  stack_pool pool(region, nullptr, unused);
  fiber* const f = pool.take();
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(region.usage().huge_bytes, region.reserved_bytes());
  pool.put(f);
}

TEST(stack_region, address_space_is_reserved_when_it_is_needed) {
  constexpr std::size_t k_most = 1 << 16;
  stack_region region(k_size_bytes, k_most, 64);
  EXPECT_EQ(region.capacity(), k_most);
  const std::size_t first = region.reserved_bytes();
  EXPECT_LT(first, std::size_t{64} << 20);
  const std::size_t mappings = mappings_of_this_process();
  std::vector<std::byte*> bottoms;
  std::size_t segments = 1;
  std::size_t reserved = first;
  for (std::size_t stacks = 0; stacks < k_most; stacks += region.stacks_per_lease()) {
    const std::size_t lease = region.lease();
    ASSERT_EQ(lease, stacks);
    region.commit(lease);
    ASSERT_GE(region.reserved_bytes(), reserved);
    if (region.reserved_bytes() != reserved) ++segments;
    reserved = region.reserved_bytes();
    for (std::size_t i = lease; i < lease + region.stacks_per_lease(); ++i) bottoms.push_back(region.bottom(i));
  }
  EXPECT_EQ(region.lease(), stack_region::k_none);
  EXPECT_EQ(segments, 11U);  // 64, 128 ... 32768, and 64 that are left
  EXPECT_LE(mappings_of_this_process(), mappings + 4 * segments);
  for (std::size_t i = 0; i < k_most; ++i) {
    ASSERT_EQ(region.bottom(i), bottoms[i]);  // they have not moved
    ASSERT_EQ(region.top(i) - region.bottom(i), static_cast<std::ptrdiff_t>(region.stack_bytes()));
    for (const std::byte* at : {bottoms[i] - region.guard_bytes(), bottoms[i] - 1, bottoms[i], region.top(i) - 1}) {
      std::size_t found = 0;
      ASSERT_TRUE(region.find(at, &found));
      ASSERT_EQ(found, i);
    }
  }
}

// find() runs in fault handlers and on other threads while segments come.
TEST(stack_region, stacks_are_found_while_other_threads_reserve) {
  constexpr std::size_t k_most = 1 << 14;
  stack_region region(k_size_bytes, k_most, 32);
  std::vector<std::atomic<std::byte*>> published(k_most);
  std::atomic<unsigned> left{3};
  const auto lease_all = [&] {
    for (std::size_t lease = region.lease(); lease != stack_region::k_none; lease = region.lease()) {
      region.commit(lease);
      for (std::size_t i = lease; i < lease + region.stacks_per_lease(); ++i)
        published[i].store(region.bottom(i), std::memory_order_release);
    }
    left.fetch_sub(1);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(lease_all);
  std::size_t wrong = 0;
  const auto look = [&] {
    for (std::size_t i = 0; i < k_most; ++i) {
      const std::byte* const bottom = published[i].load(std::memory_order_acquire);
      std::size_t found = 0;
      if (bottom != nullptr && (!region.find(bottom, &found) || found != i)) ++wrong;
    }
  };
  while (left.load() != 0) look();
  look();
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(stack_region, thousands_of_them_fit_into_a_process) {
  std::vector<std::unique_ptr<stack_region>> regions;
  const std::size_t mappings = mappings_of_this_process();
  constexpr std::size_t k_regions = 2000;
  for (std::size_t i = 0; i < k_regions; ++i) {
    regions.push_back(std::make_unique<stack_region>(k_size_bytes, std::size_t{1} << 22, 64));
    EXPECT_GE(regions.back()->capacity(), std::size_t{1} << 20);
    regions.back()->commit(regions.back()->lease());
  }
#if SHOAL_ASAN
  constexpr std::size_t k_of_sanitizer = 100;  // its allocator's own
#else
  constexpr std::size_t k_of_sanitizer = 0;
#endif
#if !SHOAL_TSAN  // its shadow memory has mappings of its own
  EXPECT_LE(mappings_of_this_process(), mappings + 4 * k_regions + k_of_sanitizer);
#else
  static_cast<void>(mappings + k_of_sanitizer);
#endif
}

TEST(stack_region, most_stacks_follow_from_the_address_space_and_too_many_are_refused_with_a_sentence) {
  const stack_region region(k_size_bytes, std::size_t{1} << 34, 32);
  EXPECT_LT(region.capacity(), std::size_t{1} << 34);
  EXPECT_GE(region.capacity(), std::size_t{1} << 16);
  EXPECT_THROW(stack_region(std::size_t{1} << 40, std::size_t{1} << 20, std::size_t{1} << 20), error);
}

TEST(stack_classes, a_class_holds_what_it_says_and_is_made_once) {
  EXPECT_EQ(stack_classes::class_of(1), 0U);
  EXPECT_EQ(stack_classes::class_of(64 << 10), 0U);
  EXPECT_EQ(stack_classes::class_of((64 << 10) + 1), 1U);
  EXPECT_EQ(stack_classes::class_of(stack_classes::k_most_bytes), stack_classes::k_classes - 1);
  stack_classes classes(1 << 12, guard_kind::marked);
  std::size_t stack = 0;
  EXPECT_EQ(classes.find(&stack, &stack), nullptr);
  for (unsigned c = 0; c < stack_classes::k_classes; ++c) {
    stack_region& region = classes.region(c);
    EXPECT_EQ(&classes.region(c), &region);
    EXPECT_GE(region.stack_bytes(), stack_classes::bytes_of(c) + machine::page_size());
    stack_pool pool(region, nullptr, unused, static_cast<std::uint8_t>(c + 1));
    fiber* const f = pool.take();
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->size_class, c + 1);
    *f->notes->bottom = std::byte{1};
    EXPECT_EQ(classes.find(f->notes->bottom, &stack), &region);
    EXPECT_EQ(stack, f->stack);
  }
}

}  // namespace
}  // namespace shoal::fiber
