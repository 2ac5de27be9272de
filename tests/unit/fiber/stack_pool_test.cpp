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
#include <vector>

#include "machine/memory_info.hpp"
#include "machine/signals.hpp"
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
  std::vector<std::byte*> bottoms;  // guards may be none of the memory that can be asked about
  for (fiber* f : all) {
    std::memset(f->notes->bottom + machine::page_size(), 1, 8 * machine::page_size());
    bottoms.push_back(f->notes->bottom);
  }
  const auto resident = [&bottoms] {
    std::size_t pages = 0;
    for (std::byte* bottom : bottoms) pages += resident_pages(bottom, k_stack_bytes);
    return pages;
  };
  const std::size_t before = resident();
  EXPECT_GE(before, 20U * 9);
  for (fiber* f : all) pool.put(f);
  pool.trim(5, 3);
  EXPECT_EQ(pool.idle(), 17U);
  pool.trim(5, 100);
  EXPECT_EQ(pool.idle(), 5U);
  EXPECT_EQ(resident(), before / 20 * 5);
  // Those that are kept give back what is deep, once.
  EXPECT_TRUE(pool.may_shrink());
  pool.shrink();
  EXPECT_FALSE(pool.may_shrink());
  EXPECT_LE(resident(), 2U * 5);
  EXPECT_GE(resident(), 1U * 5);
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

TEST(stack_pool, memory_refused_once_does_not_cost_the_stacks) {
#if SHOAL_TSAN || SHOAL_ASAN
  GTEST_SKIP() << "sanitizers need more data than a limit would leave";
#endif
  if (!machine::keeps_memory_limits()) GTEST_SKIP() << "this system (an emulator) keeps no limit of memory";
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

// What a peak has left is given back though the worker never idles: some stacks go round all the time.
TEST(stack_pool, stacks_that_stay_unused_are_given_back_while_others_are_used) {
  constexpr std::size_t k_peak = 2000;
  constexpr std::size_t k_used = 10;
  constexpr std::size_t k_batch = 50;
  stack_region region(k_stack_bytes, k_peak, 32);
  stack_pool pool(region, nullptr, never);
  std::vector<fiber*> all;
  for (std::size_t i = 0; i < k_peak; ++i) all.push_back(pool.take());
  for (fiber* f : all) std::memset(f->notes->bottom + 8 * machine::page_size(), 1, 7 * machine::page_size());
  std::vector<std::byte*> bottoms;
  for (fiber* f : all) bottoms.push_back(f->notes->bottom);
  const auto resident = [&bottoms] {
    std::size_t pages = 0;
    for (std::byte* bottom : bottoms) pages += resident_pages(bottom, k_stack_bytes);
    return pages;
  };
  EXPECT_GE(resident(), k_peak * 7);
  for (fiber* f : all) pool.put(f);
  const auto work = [&] {
    std::vector<fiber*> used;
    for (std::size_t i = 0; i < k_used; ++i) used.push_back(pool.take());
    for (fiber* f : used) pool.put(f);
    const std::size_t before = pool.idle();
    pool.tend(k_batch);
    EXPECT_LE(before - pool.idle(), k_batch);
  };
  for (int i = 0; i < 200; ++i) work();
  EXPECT_EQ(pool.idle(), pool.kept());
  EXPECT_LE(resident(), 8 * (pool.kept() + k_used));
  const std::size_t kept = pool.kept();
  for (int i = 0; i < 200; ++i) work();
  EXPECT_EQ(pool.idle(), kept);  // no more than that
  for (std::size_t i = 0; i < k_peak; ++i) EXPECT_NE(pool.take(), nullptr);
}

// A peak that comes again and again keeps its stacks.
TEST(stack_pool, a_stock_that_is_used_in_turns_stays) {
  constexpr std::size_t k_peak = 2000;
  stack_region region(k_stack_bytes, k_peak, 32);
  stack_pool pool(region, nullptr, never);
  std::vector<fiber*> all;
  for (int round = 0; round < 100; ++round) {
    while (all.size() < k_peak) {
      all.push_back(pool.take());
      if (all.size() % (k_peak / 4) == 0) pool.tend(k_peak);
    }
    while (!all.empty()) {
      pool.put(all.back());
      all.pop_back();
      if (all.size() % (k_peak / 4) == 0) pool.tend(k_peak);
    }
    ASSERT_EQ(pool.idle(), k_peak) << round;
  }
}

}  // namespace
}  // namespace shoal::fiber
