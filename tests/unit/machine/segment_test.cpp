// SPDX-License-Identifier: Apache-2.0
#include "machine/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <shoal/error.hpp>
#include <utility>

#include "in_child.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/page_choice.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_mib = std::size_t{1} << 20;
constexpr std::size_t k_capacity = std::size_t{1} << 36;

// Whether this kernel can make 2 MiB pages of shared memory at all, found out without the code under test.
bool kernel_collapses() {
  static const bool answer = [] {
    const int descriptor = ::memfd_create("probe", MFD_CLOEXEC);
    bool works = false;
    if (descriptor >= 0 && ::ftruncate(descriptor, 4 * k_mib) == 0) {
      const mapping place = mapping::reserve(4 * k_mib);
      void* const at = ::mmap(place.data(), 4 * k_mib, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
      std::memset(at, 1, 4 * k_mib);
      works = ::madvise(at, 4 * k_mib, 25) == 0;
    }
    ::close(descriptor);
    return works;
  }();
  return answer;
}

TEST(segment, is_sparse_and_aligned) {
  segment made = segment::create("test", k_capacity);
  EXPECT_EQ(made.capacity(), k_capacity);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.map()) % k_huge_page_bytes, 0U);
  EXPECT_EQ(made.map(), made.data());
  EXPECT_EQ(made.committed_bytes(0, k_capacity), 0U);
}

TEST(segment, a_beginning_can_be_mapped_alone) {
  segment made = segment::create("test", k_capacity);
  made.map();
  made.commit(0, 4 * k_mib);
  made.data()[100] = std::byte{5};
  segment peer = segment::adopt(::dup(made.descriptor()));
  peer.map(4096);
  EXPECT_EQ(peer.data()[100], std::byte{5});
  EXPECT_EQ(peer.count(0, 4096).resident_bytes, page_size());
  EXPECT_DEATH(peer.count(0, 4 * k_mib), "a part of what is mapped");
}

TEST(segment, commit_takes_the_pages_and_reports_what_was_given) {
  segment made = segment::create("test", k_capacity);
  made.map();
  const commit_report report = made.commit(4 * k_mib, 16 * k_mib);
  EXPECT_EQ(report.asked_bytes, 16 * k_mib);
  EXPECT_EQ(made.committed_bytes(0, k_capacity), 16 * k_mib);
  EXPECT_EQ(made.count(4 * k_mib, 16 * k_mib).resident_bytes, 16 * k_mib);
  if (kernel_collapses()) {
    EXPECT_EQ(report.huge_bytes, 16 * k_mib) << report.reason;
    EXPECT_EQ(report.page_bytes, k_huge_page_bytes);
    EXPECT_EQ(report.reason, "");
  } else {
    EXPECT_LT(report.huge_bytes, 16 * k_mib);
    EXPECT_NE(report.reason, "");
  }
  EXPECT_TRUE(std::all_of(made.data() + 4 * k_mib, made.data() + 20 * k_mib,
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(segment, a_peer_that_maps_the_descriptor_gets_huge_pages_too) {
  if (!kernel_collapses()) GTEST_SKIP() << "this kernel makes no huge pages of shared memory";
  segment made = segment::create("test", k_capacity, true);
  made.map();
  made.commit(0, 8 * k_mib);
  made.data()[3 * k_mib] = std::byte{42};
  const int status = in_child([descriptor = made.descriptor()] {
    segment peer = segment::adopt(::dup(descriptor));
    peer.map();
    if (peer.capacity() != k_capacity) return 1;
    if (peer.count(0, 8 * k_mib).resident_bytes != 0) return 2;
    if (!populate_pages(peer.data(), 8 * k_mib)) return 5;
    const page_count count = peer.count(0, 8 * k_mib);
    if (count.huge_bytes != 8 * k_mib || count.resident_bytes != 8 * k_mib) return 3;
    if (peer.data()[3 * k_mib] != std::byte{42}) return 4;
    peer.data()[3 * k_mib] = std::byte{43};
    return 0;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
  EXPECT_EQ(made.data()[3 * k_mib], std::byte{43});
}

TEST(segment, a_peer_that_mapped_before_the_commit_gets_huge_pages_too) {
  if (!kernel_collapses()) GTEST_SKIP() << "this kernel makes no huge pages of shared memory";
  segment made = segment::create("test", k_capacity);
  segment peer = segment::adopt(::dup(made.descriptor()));
  peer.map();
  made.map();
  made.commit(2 * k_mib, 6 * k_mib);
  for (std::size_t at = 2 * k_mib; at < 8 * k_mib; at += 4096) peer.data()[at] = std::byte{1};
  EXPECT_EQ(peer.count(2 * k_mib, 6 * k_mib).huge_bytes, 6 * k_mib);
}

TEST(segment, parts_that_are_not_whole_pieces_get_small_pages_at_their_ends) {
  segment made = segment::create("test", k_capacity);
  made.map();
  const commit_report report = made.commit(k_mib, 4 * k_mib + 100);
  EXPECT_EQ(made.count(k_mib, 4 * k_mib + 100).resident_bytes, 4 * k_mib + page_size());
  EXPECT_EQ(made.committed_bytes(0, 8 * k_mib), 4 * k_mib + page_size());
  if (kernel_collapses()) {
    EXPECT_EQ(report.huge_bytes, 2 * k_mib) << report.reason;
  }
}

TEST(segment, committing_over_data_keeps_the_data) {
  segment made = segment::create("test", k_capacity);
  made.map();
  made.commit(0, 4 * k_mib, page_kind::small);
  std::memset(made.data(), 7, 4 * k_mib);
  made.commit(0, 8 * k_mib);
  EXPECT_TRUE(std::all_of(made.data(), made.data() + 4 * k_mib, [](std::byte byte) { return byte == std::byte{7}; }));
  EXPECT_EQ(made.data()[5 * k_mib], std::byte{0});
  if (kernel_collapses()) {
    EXPECT_EQ(made.count(0, 8 * k_mib).huge_bytes, 8 * k_mib);
  }
}

TEST(segment, small_pages_stay_small_and_may_become_large_later) {
  segment made = segment::create("test", k_capacity);
  made.map();
  const commit_report report = made.commit(0, 4 * k_mib, page_kind::small);
  EXPECT_EQ(report.reason, "small pages were asked for");
  EXPECT_EQ(report.page_bytes, page_size());
  EXPECT_EQ(made.count(0, 4 * k_mib).resident_bytes, 4 * k_mib);
  EXPECT_EQ(made.count(0, 4 * k_mib).huge_bytes, 0U);
  // The kernel refuses large pages by itself there: it would not collapse them now.
  EXPECT_NE(::madvise(made.data(), 4 * k_mib, 25), 0);
  made.release(0, 4 * k_mib);
  if (!kernel_collapses()) return;
  EXPECT_EQ(made.commit(0, 4 * k_mib).huge_bytes, 4 * k_mib);
}

TEST(segment, of_the_pool_is_known_as_such_and_takes_nothing_beyond_the_pool) {
  const page_pool pool = read_page_pool(k_huge_page_bytes);
  segment made = segment::create("test", (pool.pages + 8) * k_huge_page_bytes, false, k_huge_page_bytes);
  made.map();
  EXPECT_EQ(segment::adopt(::dup(made.descriptor())).pool_page_bytes(), k_huge_page_bytes);
  EXPECT_EQ(segment::create("test", 1).pool_page_bytes(), 0U);
  const segment ordinary = segment::create("test", 1);
  EXPECT_EQ(segment::adopt(::dup(ordinary.descriptor())).pool_page_bytes(), 0U);
  try {
    made.commit(100, (pool.pages + 1) * k_huge_page_bytes);
    FAIL() << "the pool has not so many";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("are reserved"), std::string::npos) << e.what();
  }
  EXPECT_EQ(made.committed_bytes(0, made.capacity()), 0U);
  EXPECT_EQ(read_page_pool(k_huge_page_bytes).free_pages, pool.free_pages);
}

// Runs where such pages are reserved, for instance by `echo 4 > /proc/sys/vm/nr_hugepages`.
TEST(segment, of_the_pool_takes_whole_pages_shared_by_parts_and_gives_them_back) {
  constexpr std::size_t k_page = k_huge_page_bytes;
  if (read_page_pool(k_page).free_pages < 3) GTEST_SKIP() << "no 2 MiB pages are reserved, see the line above the test";
  const std::uint64_t free = read_page_pool(k_page).free_pages;
  segment made = segment::create("test", k_capacity, false, k_page);
  made.map();
  EXPECT_EQ(read_page_pool(k_page).free_pages, free);  // nothing is taken yet
  const commit_report report = made.commit(k_page / 2, k_page);
  EXPECT_EQ(report.huge_bytes, k_page);
  EXPECT_EQ(report.page_bytes, k_page);
  EXPECT_EQ(report.reason, "");
  EXPECT_EQ(read_page_pool(k_page).free_pages, free - 2);
  made.commit(k_page * 3 / 2, k_page / 2);  // on a page that is there
  EXPECT_EQ(read_page_pool(k_page).free_pages, free - 2);
  EXPECT_EQ(made.committed_bytes(0, 4 * k_page), 2 * k_page);
  std::memset(made.data() + k_page / 2, 7, k_page * 3 / 2);
  segment peer = segment::adopt(::dup(made.descriptor()));
  EXPECT_EQ(peer.pool_page_bytes(), k_page);
  EXPECT_EQ(peer.map()[k_page], std::byte{7});
  made.release(k_page / 2, k_page);
  EXPECT_EQ(made.data()[k_page / 2], std::byte{0});
  EXPECT_EQ(made.data()[k_page], std::byte{0});
  EXPECT_EQ(made.data()[k_page * 3 / 2], std::byte{7});
  made.release(0, 2 * k_page);
  EXPECT_EQ(read_page_pool(k_page).free_pages, free);
  EXPECT_THROW(made.commit(0, (free + 1) * k_page), error);
  EXPECT_EQ(read_page_pool(k_page).free_pages, free);
}

TEST(segment, release_gives_the_memory_back_and_reads_zero) {
  segment made = segment::create("test", k_capacity);
  made.map();
  made.commit(0, 8 * k_mib);
  std::memset(made.data(), 9, 8 * k_mib);
  made.release(2 * k_mib, 4 * k_mib);
  EXPECT_EQ(made.committed_bytes(0, 8 * k_mib), 4 * k_mib);
  made.commit(2 * k_mib, 4 * k_mib);
  EXPECT_EQ(made.data()[3 * k_mib], std::byte{0});
  EXPECT_EQ(made.data()[7 * k_mib], std::byte{9});
}

// As a network library does that allocates the memory it reaches.
TEST(segment, works_on_memory_of_another_and_leaves_it_there) {
  constexpr std::size_t k_size = 4 * k_mib;
  std::byte* at = nullptr;
  {
    segment made = segment::create("test", k_size);
    at = made.map();
    ASSERT_EQ(::mmap(at, k_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_ANONYMOUS, -1, 0), at);
    made.yield_mapping();
    EXPECT_EQ(made.committed_bytes(0, k_size), 0U);
    made.commit(0, k_mib, page_kind::small);
    EXPECT_EQ(made.committed_bytes(0, k_size), k_mib);
    at[5] = std::byte{7};
    made.release(0, k_mib);
    EXPECT_EQ(made.committed_bytes(0, k_size), 0U);
    EXPECT_EQ(at[5], std::byte{0});
    at[6] = std::byte{8};
  }
  EXPECT_EQ(at[6], std::byte{8});
  EXPECT_EQ(::munmap(at, k_size), 0);
}

TEST(segment, more_than_memory_names_both_figures_and_takes_nothing) {
  const std::uint64_t total = memory_info().total_bytes;
  segment made = segment::create("test", 4 * total);
  made.map();
  try {
    made.commit(0, 2 * total);
    FAIL() << "twice the machine's memory was committed";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::out_of_memory);
    const std::string text = refused.what();
    EXPECT_NE(text.find(describe_bytes(round_up(2 * total, page_size()))), std::string::npos) << text;
    EXPECT_NE(text.find(describe_bytes(total)), std::string::npos) << text;
    EXPECT_NE(text.find("control group"), std::string::npos) << text;
  }
  EXPECT_EQ(made.committed_bytes(0, 4 * total), 0U);
}

TEST(segment, a_file_size_limit_is_an_error_and_not_a_signal) {
  const int status = in_child([] {
    const rlimit limit{k_mib, k_mib};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      segment::create("test", k_capacity);
    } catch (const error& refused) {
      return refused.code() == errc::system && std::strstr(refused.what(), "ulimit -f") != nullptr ? 0 : 2;
    }
    return 3;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(segment, nobody_can_shrink_it) {
  segment made = segment::create("test", k_capacity);
  EXPECT_EQ(::ftruncate(made.descriptor(), 0), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(segment, the_descriptor_is_inherited_only_when_asked) {
  segment kept = segment::create("test", k_capacity);
  segment given = segment::create("test", k_capacity, true);
  EXPECT_NE(::fcntl(kept.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(::fcntl(given.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  const segment adopted = segment::adopt(::dup(given.descriptor()));
  EXPECT_NE(::fcntl(adopted.descriptor(), F_GETFD) & FD_CLOEXEC, 0);  // what a node starts is not another one
}

TEST(segment, what_is_not_a_segment_is_not_adopted) {
  EXPECT_THROW(segment::adopt(-1), error);
  const int pipe_like = ::open("/dev/null", O_RDONLY);
  EXPECT_THROW(segment::adopt(pipe_like), error);
  ::close(pipe_like);
}

TEST(segment, a_private_one_has_no_descriptor_and_does_the_same) {
  segment s = segment::create_private(k_capacity);
  EXPECT_EQ(s.descriptor(), -1);
  EXPECT_EQ(s.capacity(), k_capacity);
  std::byte* const base = s.map();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % k_huge_page_bytes, 0U);
  EXPECT_EQ(s.committed_bytes(0, 64 * k_mib), 0U);
  s.commit(k_mib + 100, 5 * k_mib);
  EXPECT_EQ(s.committed_bytes(k_mib + 100, 5 * k_mib), 5 * k_mib);
  EXPECT_GE(s.committed_bytes(0, 64 * k_mib), 5 * k_mib);
  EXPECT_EQ(base[2 * k_mib], std::byte{0});
  std::memset(base + 2 * k_mib, 7, k_mib);
  s.release(2 * k_mib, k_mib);
  EXPECT_EQ(s.committed_bytes(2 * k_mib, k_mib), 0U);
  EXPECT_EQ(base[2 * k_mib], std::byte{0});
  segment moved = std::move(s);
  EXPECT_EQ(moved.data(), base);
  moved.commit(2 * k_mib, k_mib, page_kind::small);
  EXPECT_EQ(moved.committed_bytes(2 * k_mib, k_mib), k_mib);
  EXPECT_THROW(moved.commit(0, k_capacity), error);
}

TEST(segment, nothing_is_not_a_segment) { EXPECT_THROW(segment::create("test", 0), error); }

}  // namespace
}  // namespace shoal::machine
