// SPDX-License-Identifier: Apache-2.0
#include "machine/reserved_range.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <shoal/error.hpp>
#include <string>

#include "in_child.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_mb = std::size_t{1} << 20;

#if defined(SHOAL_ASAN) || defined(SHOAL_TSAN)
constexpr bool k_address_space_can_be_limited = false;  // a sanitizer's shadow needs terabytes of it
#else
constexpr bool k_address_space_can_be_limited = true;
#endif

// More than the machine has memory; a thread sanitizer leaves less address space.
#if SHOAL_TSAN
constexpr std::size_t k_large = std::size_t{1} << 36;
#else
constexpr std::size_t k_large = std::size_t{1} << 40;
#endif

// Those that the range lies in; elsewhere others (a sanitizer, the allocator) map as they like.
int count_mappings(const reserved_range& range) {
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  std::ifstream in("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    char* after = nullptr;
    const std::uintptr_t begin = std::strtoull(line.c_str(), &after, 16);
    const std::uintptr_t end = std::strtoull(after + 1, nullptr, 16);
    if (begin < first + range.size() && end > first) ++count;
  }
  return count;
}

// The child touches one byte; a fault ends it by a signal (a sanitizer's handler would exit instead: reset it).
bool faults(const std::byte* address) {
  const int status = in_child([address] {
    std::signal(SIGSEGV, SIG_DFL);
    return static_cast<int>(*const_cast<const volatile std::byte*>(address)) * 0;
  });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

TEST(reserved_range, is_aligned_and_takes_no_memory) {
  const reserved_range range(k_large);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % k_huge_page_bytes, 0U);
  EXPECT_EQ(range.size(), k_large);
  EXPECT_EQ(count_pages(range.data(), range.size()).resident_bytes, 0U);
  EXPECT_TRUE(range.contains(range.data()));
  EXPECT_FALSE(range.contains(range.data() + range.size()));
}

TEST(reserved_range, aligns_as_asked) {
  const reserved_range range(k_mb, 64 * k_mb);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % (64 * k_mb), 0U);
}

TEST(reserved_range, committed_parts_are_zero_and_writable_and_the_rest_faults) {
  reserved_range range(16 * k_mb);
  range.commit(k_mb, k_mb);
  EXPECT_EQ(range.data()[k_mb], std::byte{0});
  std::memset(range.data() + k_mb, 7, k_mb);
  EXPECT_EQ(count_pages(range.data(), range.size()).resident_bytes, k_mb);
  EXPECT_TRUE(faults(range.data()));
  EXPECT_TRUE(faults(range.data() + 2 * k_mb));
}

TEST(reserved_range, neighbouring_commits_share_one_mapping) {
  reserved_range range(512 * k_mb);
  range.commit(0, k_mb);
  range.data()[0] = std::byte{1};
  const int before = count_mappings(range);
  for (std::size_t slab = 1; slab < 256; ++slab) {
    range.commit(slab * k_mb, k_mb);
    range.data()[slab * k_mb] = std::byte{1};
  }
  EXPECT_LE(count_mappings(range), before + 2);
}

TEST(reserved_range, discard_gives_memory_back) {
  reserved_range range(4 * k_mb);
  range.commit(0, 4 * k_mb);
  std::memset(range.data(), 1, 4 * k_mb);
  range.discard(k_mb, 2 * k_mb);
  EXPECT_EQ(count_pages(range.data(), range.size()).resident_bytes, 2 * k_mb);
  EXPECT_EQ(range.data()[k_mb], std::byte{0});
  EXPECT_EQ(range.data()[3 * k_mb], std::byte{1});
}

TEST(reserved_range, small_pages_stay_small_also_where_huge_ones_would_fit) {
  reserved_range range(8 * k_mb, k_huge_page_bytes, page_kind::small);
  range.commit(0, 8 * k_mb);
  range.data()[0] = std::byte{1};
  const page_count count = count_pages(range.data(), range.size());
  EXPECT_EQ(count.huge_bytes, 0U);
  EXPECT_EQ(count.resident_bytes, page_size());
}

TEST(reserved_range, guards_fault_without_a_mapping_of_their_own) {
  reserved_range range(4 * k_mb);
  range.commit(0, 4 * k_mb);
  if (!follows_advice()) GTEST_SKIP() << "this system (an emulator) ignores advice about memory";
  const int before = count_mappings(range);
  if (!guard_install(range.data(), page_size())) {
    EXPECT_EQ(errno, EINVAL);
    GTEST_SKIP() << "this kernel is older than 6.13";
  }
  EXPECT_LE(count_mappings(range), before);
  EXPECT_TRUE(faults(range.data()));
  EXPECT_FALSE(faults(range.data() + page_size()));
  range.discard(0, 4 * k_mb);
  EXPECT_TRUE(faults(range.data()));
  EXPECT_FALSE(faults(range.data() + page_size()));
}

TEST(reserved_range, moving_leaves_nothing_behind) {
  reserved_range first(k_mb);
  std::byte* const place = first.data();
  reserved_range second(std::move(first));
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT: the moved-from state is the subject
  first = std::move(second);
  EXPECT_EQ(first.data(), place);
}

TEST(reserved_range, a_refused_reservation_names_what_was_asked_and_the_limit) {
  if (!k_address_space_can_be_limited) GTEST_SKIP() << "not under a sanitizer that needs the address space itself";
  const int status = in_child([] {
    const rlimit limit{std::size_t{8} << 30, std::size_t{8} << 30};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    try {
      const reserved_range range(std::size_t{64} << 30);
    } catch (const error& refused) {
      const std::string text = refused.what();
      if (refused.code() != errc::out_of_memory) return 2;
      if (text.find("64.0 GiB") == std::string::npos) return 3;
      if (text.find("(ulimit -v) 8.0 GiB") == std::string::npos) return 4;
      if (text.find("vm.overcommit_memory") == std::string::npos) return 5;
      return 0;
    }
    return 6;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(reserved_range, a_refused_commit_names_the_data_limit) {
  if (!k_address_space_can_be_limited) GTEST_SKIP() << "not under a sanitizer that needs the address space itself";
  const int status = in_child([] {
    reserved_range range(std::size_t{4} << 30);
    const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return 1;
    try {
      range.commit(0, std::size_t{2} << 30);
    } catch (const error& refused) {
      const std::string text = refused.what();
      const bool named =
          text.find("2.0 GiB") != std::string::npos && text.find("(ulimit -d) 1.0 GiB") != std::string::npos;
      return named && refused.code() == errc::out_of_memory ? 0 : 2;
    }
    return 3;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(reserved_range, nothing_and_too_much_are_refused) {
  EXPECT_THROW(reserved_range(0), error);
  EXPECT_THROW(reserved_range(std::size_t{1} << 60), error);
  EXPECT_THROW(reserved_range(~std::size_t{0}), error);
}

}  // namespace
}  // namespace shoal::machine
