// SPDX-License-Identifier: Apache-2.0
#include "machine/images.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "machine/function_starts.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/segment.hpp"

namespace shoal::machine {
namespace {

int g_initialized = 7;
int g_zero;

void some_function() { g_initialized += g_zero; }

TEST(images, the_program_is_first_and_found_by_its_code_and_data) {
  const auto images = loaded_images();
  ASSERT_GT(images.size(), 2U);
  EXPECT_TRUE(std::filesystem::equivalent(images.front().path, "/proc/self/exe"));
  const void* const code = reinterpret_cast<const void*>(&some_function);
  EXPECT_TRUE(images.front().contains(code));
  EXPECT_TRUE(images.front().contains(&g_initialized));
  EXPECT_TRUE(images.front().contains(&g_zero));
  const auto found = find_image(code);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->base, images.front().base);
  EXPECT_EQ(found->identity, images.front().identity);
}

TEST(images, functions_begin_where_the_table_for_unwinding_says) {
  const function_starts starts(loaded_images().front());
  ASSERT_FALSE(starts.empty());
  const auto address = reinterpret_cast<std::uintptr_t>(&some_function);
  EXPECT_TRUE(starts.contains(address));
  EXPECT_FALSE(starts.contains(address + 1));
  EXPECT_FALSE(starts.contains(reinterpret_cast<std::uintptr_t>(&g_initialized)));
  EXPECT_FALSE(starts.contains(0));
  EXPECT_FALSE(starts.contains(~std::uintptr_t{0}));
  EXPECT_TRUE(function_starts().empty());
}

TEST(images, identities_are_there_and_differ) {
  std::set<std::string> seen;
  const auto images = loaded_images();
  for (const image& one : images) {
    EXPECT_TRUE(one.identity.starts_with("build:") || one.identity.starts_with("hash:")) << one.path;
    EXPECT_GE(one.identity.size(), 5U + 16U) << one.path;
    seen.insert(one.identity);
  }
  EXPECT_EQ(seen.size(), images.size());
}

TEST(images, a_library_is_found_and_does_not_overlap_the_program) {
  const void* const code = ::dlsym(RTLD_DEFAULT, "qsort");
  const auto found = find_image(code);
  ASSERT_TRUE(found.has_value());
  const image program = loaded_images().front();
  if (found->base == program.base) GTEST_SKIP() << "the C library is part of this program";
  EXPECT_FALSE(found->contains(reinterpret_cast<const void*>(&some_function)));
  EXPECT_FALSE(program.contains(code));
}

TEST(images, data_is_in_no_image) {
  const auto on_heap = std::make_unique<int>(1);
  int on_stack = 1;
  EXPECT_FALSE(find_image(on_heap.get()).has_value());
  EXPECT_FALSE(find_image(&on_stack).has_value());
  EXPECT_FALSE(find_image(nullptr).has_value());
}

TEST(classify_address, knows_what_addresses_point_to) {
  int on_stack = 0;
  const auto small = std::make_unique<int>(1);
  const auto large = std::make_unique<std::array<char, 1 << 22>>();
  EXPECT_EQ(classify(&on_stack), address_kind::stack);
  EXPECT_EQ(classify(reinterpret_cast<const void*>(&some_function)), address_kind::image);
  EXPECT_EQ(classify(&g_initialized), address_kind::image);
  EXPECT_EQ(classify(&g_zero), address_kind::image);
  EXPECT_EQ(classify(small.get()), address_kind::heap);
  EXPECT_EQ(classify(large.get()), address_kind::heap);
}

TEST(classify_address, knows_other_threads_stacks_by_their_threads) {
  std::thread([] {
    int on_stack = 0;
    EXPECT_EQ(classify(&on_stack), address_kind::stack);
  }).join();
}

TEST(classify_address, numbers_are_no_addresses) {
  for (const std::uintptr_t number : {std::uintptr_t{0}, std::uintptr_t{42}, std::uintptr_t{65535}, ~std::uintptr_t{0},
                                      std::uintptr_t{1} << 62, std::uintptr_t{0x3ff0000000000000}}) {
    EXPECT_EQ(classify(reinterpret_cast<const void*>(number)), address_kind::none) << number;
  }
}

TEST(classify_address, takes_notice_of_what_comes_and_goes) {
  std::byte* gone = nullptr;
  {
    segment shared = segment::create("test", k_huge_page_bytes);
    gone = shared.map();
    EXPECT_EQ(classify(gone), address_kind::mapping);
  }
  EXPECT_EQ(classify(gone), address_kind::none);
  const mapping reserved = mapping::reserve(k_huge_page_bytes);
  EXPECT_EQ(classify(reserved.data()), address_kind::none);
}

}  // namespace
}  // namespace shoal::machine
