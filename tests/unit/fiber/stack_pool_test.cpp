// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack_pool.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "machine/memory_info.hpp"
#include "machine/signals.hpp"
#include "shoal/error.hpp"
#include "unit/machine/in_child.hpp"

namespace shoal::fiber {
namespace {

constexpr std::size_t k_stack_bytes = 64 << 10;

void never() noexcept { std::abort(); }

std::size_t resident_pages(std::byte* from, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / machine::page_size());
  EXPECT_EQ(mincore(from, bytes, pages.data()), 0);
  std::size_t count = 0;
  for (const unsigned char p : pages) count += p & 1U;
  return count;
}

TEST(stack_pool, fibers_have_stacks_of_their_own_in_the_region) {
  stack_region region(k_stack_bytes, 128, 32);
  int owner = 0;
  stack_pool pool(region, &owner, never);
  std::set<std::size_t> stacks;
  for (int i = 0; i < 100; ++i) {
    fiber* f = pool.take();
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->owner, &owner);
    std::size_t stack = 0;
    ASSERT_TRUE(region.find(f->context, &stack));
    EXPECT_EQ(stack, f->stack);
    EXPECT_EQ(region.bottom(stack), f->notes->bottom);
    EXPECT_TRUE(stacks.insert(stack).second);
  }
  EXPECT_EQ(pool.in_use(), 100U);
  std::size_t stack = 0;
  EXPECT_FALSE(region.find(&owner, &stack));
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

TEST(stack_pool, tops_differ_by_cache_lines) {
  stack_region region(k_stack_bytes, 32, 32);
  stack_pool pool(region, nullptr, never);
  std::set<std::uintptr_t> offsets;
  for (int i = 0; i < 16; ++i)
    offsets.insert(reinterpret_cast<std::uintptr_t>(pool.take()->context) % machine::page_size());
  EXPECT_EQ(offsets.size(), 16U);
}

TEST(stack_pool, a_stack_given_back_is_the_next_taken) {
  stack_region region(k_stack_bytes, 32, 32);
  stack_pool pool(region, nullptr, never);
  fiber* a = pool.take();
  fiber* b = pool.take();
  pool.put(a);
  pool.put(b);
  EXPECT_EQ(pool.idle(), 2U);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
  EXPECT_EQ(pool.idle(), 0U);
  EXPECT_EQ(pool.in_use(), 2U);
}

TEST(stack_pool, a_used_up_region_gives_nothing) {
  stack_region region(k_stack_bytes, 64, 32);
  EXPECT_EQ(region.capacity(), 64U);
  stack_pool one(region, nullptr, never);
  stack_pool other(region, nullptr, never);
  for (int i = 0; i < 32; ++i) ASSERT_NE(one.take(), nullptr);
  for (int i = 0; i < 32; ++i) ASSERT_NE(other.take(), nullptr);
  EXPECT_EQ(one.take(), nullptr);
  EXPECT_EQ(other.take(), nullptr);
  EXPECT_EQ(one.in_use(), 32U);
}

TEST(stack_pool, an_unused_stack_takes_no_memory_and_a_placed_one_a_page) {
  stack_region region(k_stack_bytes, 32, 32);
  const std::size_t first = region.lease();
  ASSERT_EQ(first, 0U);
  region.commit(first);
  EXPECT_EQ(resident_pages(region.bottom(first), static_cast<std::size_t>(region.top(31) - region.bottom(first))), 0U);
  stack_region other(k_stack_bytes, 32, 32);
  stack_pool pool(other, nullptr, never);
  fiber* f = pool.take();
  EXPECT_EQ(resident_pages(f->notes->bottom, k_stack_bytes), 1U);
}

TEST(stack_pool, trim_gives_memory_back_and_the_stacks_stay_usable) {
  stack_region region(k_stack_bytes, 32, 32);
  stack_pool pool(region, nullptr, never);
  std::vector<fiber*> all;
  for (int i = 0; i < 20; ++i) all.push_back(pool.take());
  std::byte* lowest = all[0]->notes->bottom;
  std::byte* highest = lowest;
  for (fiber* f : all) {
    std::memset(f->notes->bottom + machine::page_size(), 1, 8 * machine::page_size());
    lowest = std::min(lowest, f->notes->bottom);
    highest = std::max(highest, f->notes->bottom);
  }
  const auto bytes = static_cast<std::size_t>(highest - lowest) + k_stack_bytes;
  const std::size_t before = resident_pages(lowest, bytes);
  EXPECT_GE(before, 20U * 9);
  for (fiber* f : all) pool.put(f);
  pool.trim(5, 3);
  EXPECT_EQ(pool.idle(), 17U);
  pool.trim(5, 100);
  EXPECT_EQ(pool.idle(), 5U);
  EXPECT_EQ(resident_pages(lowest, bytes), before / 20 * 5);
  // Those that are kept give back what is deep, once.
  EXPECT_TRUE(pool.may_shrink());
  pool.shrink();
  EXPECT_FALSE(pool.may_shrink());
  EXPECT_LE(resident_pages(lowest, bytes), 2U * 5);
  EXPECT_GE(resident_pages(lowest, bytes), 1U * 5);
  std::set<fiber*> again;
  for (int i = 0; i < 32; ++i) again.insert(pool.take());
  EXPECT_EQ(again.size(), 32U);
  EXPECT_EQ(again.count(nullptr), 0U);
  EXPECT_EQ(pool.take(), nullptr);
}

TEST(stack_pool, a_deep_stack_in_use_again_and_again_gives_its_pages_back) {
  stack_region region(k_stack_bytes, 32, 32);
  stack_pool pool(region, nullptr, never);
  fiber* const deep = pool.take();
  std::memset(deep->notes->bottom, 1, k_stack_bytes / 2);
  EXPECT_GE(resident_pages(deep->notes->bottom, k_stack_bytes), 8U);
  pool.put(deep);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(pool.take(), deep);
    pool.put(deep);
  }
  EXPECT_LE(resident_pages(deep->notes->bottom, k_stack_bytes), 2U);
}

class guards : public testing::TestWithParam<guard_kind> {};
INSTANTIATE_TEST_SUITE_P(kinds, guards, testing::Values(guard_kind::marked, guard_kind::mapped));

TEST_P(guards, overflow_dies_by_a_fault) {
  // A frame of 256 KiB whose far end is touched first.
  for (const std::size_t depth : {std::size_t{1}, (std::size_t{256} << 10) - machine::page_size()}) {
    const int status = machine::in_child([depth] {
      std::signal(SIGSEGV, SIG_DFL);
      stack_region region(k_stack_bytes, 32, 32, GetParam());
      stack_pool pool(region, nullptr, never);
      fiber* f = pool.take();
      if (!region.has_guards() || pool.unguarded()) return 42;
      auto* floor = reinterpret_cast<volatile char*>(f->notes->bottom);
      *floor = 1;  // the lowest byte that may be used
      *(floor - depth) = 1;
      return 0;
    });
#if SHOAL_ASAN
    EXPECT_FALSE(machine::exited_with(status, 0));  // the sanitizer may report the fault and exit
#else
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);
#endif
  }
}

TEST(stack_region, says_once_when_mappings_for_guards_run_out) {
  stack_region region(4096, stack_region::k_most_mapped_guards * 2, 32, guard_kind::mapped);
  stack_pool pool(region, nullptr, never);
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

TEST(stack_pool, memory_refused_once_does_not_cost_the_stacks) {
#if SHOAL_TSAN || SHOAL_ASAN
  GTEST_SKIP() << "sanitizers need more data than a limit would leave";
#endif
  const int status = machine::in_child([] {
    std::FILE* const quiet = std::freopen("/dev/null", "w", stderr);
    if (quiet == nullptr) return 1;
    stack_region region(k_stack_bytes, 32, 32);
    stack_pool pool(region, nullptr, never);
    rlimit limit{};
    if (::getrlimit(RLIMIT_DATA, &limit) != 0) return 2;
    const rlimit none{std::size_t{1} << 20, limit.rlim_max};
    if (::setrlimit(RLIMIT_DATA, &none) != 0) return 3;
    for (int i = 0; i < 3; ++i)
      if (pool.take() != nullptr) return 4;
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return 5;
    for (int i = 0; i < 32; ++i)
      if (pool.take() == nullptr) return 6;
    return pool.take() == nullptr ? 0 : 7;
  });
  EXPECT_TRUE(machine::exited_with(status, 0)) << status;
}

TEST(stack_region, gives_what_address_space_allows_and_otherwise_refuses_with_a_sentence) {
  // 2^50 bytes are more than a process has: halved until they fit.
  const stack_region region(k_stack_bytes, std::size_t{1} << 34, 32);
  EXPECT_LT(region.capacity(), std::size_t{1} << 34);
  EXPECT_GE(region.capacity(), std::size_t{1} << 16);
  EXPECT_THROW(stack_region(std::size_t{1} << 40, std::size_t{1} << 20, std::size_t{1} << 20), error);
}

}  // namespace
}  // namespace shoal::fiber
