// SPDX-License-Identifier: Apache-2.0
#include "machine/membarrier.hpp"

#include <gtest/gtest.h>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "in_child.hpp"
#include "machine/futex.hpp"

namespace shoal::machine {
namespace {

// Store buffering: without a fence on both sides both threads may read zero. Here only one side has a real one. Fresh
// words for every round, on lines of their own, so that a store takes a while to become visible.
struct alignas(64) word {
  std::atomic<int> value{0};
};

TEST(membarrier, is_there_if_the_kernel_says_so) {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  EXPECT_EQ(can_fence_all(), commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0);
}

TEST(membarrier, one_side_always_sees_the_other) {
  if (!can_fence_all()) GTEST_SKIP() << "this system has no membarrier(2)";
  constexpr int k_rounds = 50000;
  std::vector<word> rare(k_rounds);
  std::vector<word> frequent(k_rounds);
  std::vector<int> seen_by_frequent(k_rounds);
  std::vector<int> seen_by_rare(k_rounds);
  word started;  // the round that both may run; partner: its load on the other thread
  std::thread other([&] {
    for (int i = 0; i < k_rounds; ++i) {
      for (int tries = 0; started.value.load(std::memory_order_acquire) <= i; ++tries) {
        if (tries > 1000) yield_processor();
      }
      const auto at = static_cast<std::size_t>(i);
      frequent[at].value.store(1, std::memory_order_relaxed);
      light_fence();
      seen_by_frequent[at] = rare[at].value.load(std::memory_order_relaxed);
    }
  });
  for (int i = 0; i < k_rounds; ++i) {
    const auto at = static_cast<std::size_t>(i);
    started.value.store(i + 1, std::memory_order_release);
    for (int wait = i % 32; wait > 0; --wait) pause();  // meet the other thread at different moments
    rare[at].value.store(1, std::memory_order_relaxed);
    heavy_fence();
    seen_by_rare[at] = frequent[at].value.load(std::memory_order_relaxed);
  }
  other.join();
  int missed = 0;
  for (std::size_t i = 0; i < k_rounds; ++i) missed += seen_by_rare[i] == 0 && seen_by_frequent[i] == 0 ? 1 : 0;
  EXPECT_EQ(missed, 0);
}

TEST(membarrier, works_in_a_forked_child_and_keeps_errno) {
  if (!can_fence_all()) GTEST_SKIP() << "this system has no membarrier(2)";
  heavy_fence();
  const int status = in_child([] {
    errno = 1234;
    heavy_fence();
    return errno == 1234 ? 0 : 1;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

}  // namespace
}  // namespace shoal::machine
