// SPDX-License-Identifier: Apache-2.0
#include "machine/huge_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <shoal/error.hpp>
#include <string>

namespace shoal::machine {
namespace {

constexpr std::size_t k_mib = std::size_t{1} << 20;

TEST(huge_buffer, is_there_zero_and_aligned) {
  const huge_buffer buffer(5 * k_mib);
  EXPECT_EQ(buffer.size(), 6 * k_mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % k_huge_page_bytes, 0U);
  EXPECT_EQ(count_pages(buffer.data(), buffer.size()).resident_bytes, buffer.size());
  const auto words = buffer.as<std::uint64_t>();
  EXPECT_EQ(words.size(), buffer.size() / 8);
  EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; }));
}

TEST(huge_buffer, is_on_huge_pages_where_the_kernel_gives_them_on_request) {
  std::string mode;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), mode);
  if (mode.empty() || mode.find("[never]") != std::string::npos) GTEST_SKIP() << "huge pages are off: " << mode;
  const huge_buffer buffer(16 * k_mib);
  // A machine short of contiguous memory may give less; nothing at all would mean that asking went wrong.
  EXPECT_GT(buffer.huge_bytes(), 0U);
  EXPECT_EQ(buffer.huge_bytes() % k_huge_page_bytes, 0U);
}

TEST(huge_buffer, small_pages_when_asked) {
  const huge_buffer buffer(4 * k_mib, page_kind::small);
  EXPECT_EQ(buffer.huge_bytes(), 0U);
  EXPECT_EQ(count_pages(buffer.data(), buffer.size()).resident_bytes, buffer.size());
}

TEST(huge_buffer, more_than_the_machine_has_names_both_figures) {
  const std::uint64_t total = memory_info().total_bytes;
  try {
    const huge_buffer buffer(2 * total);
    FAIL() << "twice the machine's memory was given";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::out_of_memory);
    const std::string text = refused.what();
    EXPECT_NE(text.find(describe_bytes(2 * total)), std::string::npos) << text;
    EXPECT_NE(text.find(describe_bytes(total)), std::string::npos) << text;
  }
}

TEST(huge_buffer, nothing_is_a_buffer_too) {
  const huge_buffer buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.huge_bytes(), 0U);
}

TEST(populate_pages, keeps_what_is_there) {
  huge_buffer buffer(4 * k_mib, page_kind::small);
  buffer.as<std::uint64_t>()[100] = 42;
  EXPECT_TRUE(populate_pages(buffer.data(), buffer.size()));
  EXPECT_EQ(buffer.as<std::uint64_t>()[100], 42U);
}

}  // namespace
}  // namespace shoal::machine
