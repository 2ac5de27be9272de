// SPDX-License-Identifier: Apache-2.0
#include "machine/futex.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "base/clock.hpp"

namespace shoal::machine {
namespace {

TEST(futex, a_changed_word_does_not_sleep) {
  std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(futex_wait(word, 0, k_no_timeout, false), futex_result::changed);
}

TEST(futex, a_timeout_is_reported_and_not_early) {
  std::atomic<std::uint32_t> word{0};
  const auto start = base::now_ns();
  EXPECT_EQ(futex_wait(word, 0, 20'000'000, false), futex_result::timeout);
  EXPECT_GE(base::now_ns() - start, 20'000'000U);
}

TEST(futex, waking_nobody_wakes_nobody) {
  std::atomic<std::uint32_t> word{0};
  EXPECT_EQ(futex_wake(word, 1, false), 0);
}

TEST(futex, a_thread_is_woken) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> through{false};
  std::thread sleeper([&] {
    while (word.load() == 0) futex_wait(word, 0, k_no_timeout, false);
    through.store(true);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(through.load());
  word.store(1);
  futex_wake(word, 1, false);
  sleeper.join();
  EXPECT_TRUE(through.load());
}

TEST(futex, another_process_is_woken_through_shared_memory) {
  void* const place = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  auto& word = *new (place) std::atomic<std::uint32_t>(0);
  auto& asleep = *new (static_cast<std::byte*>(place) + 64) std::atomic<std::uint32_t>(0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    asleep.store(1);
    while (word.load() == 0) {
      if (futex_wait(word, 0, 10'000'000'000, true) == futex_result::timeout) ::_exit(1);
    }
    ::_exit(0);
  }
  while (asleep.load() == 0) yield_processor();
  // Once the child sleeps, a wake without a change of the word reaches it: the return value says so.
  const auto deadline = base::now_ns() + 10'000'000'000U;
  while (futex_wake(word, 1, true) != 1 && base::now_ns() < deadline) yield_processor();
  EXPECT_LT(base::now_ns(), deadline);
  word.store(1);
  futex_wake(word, 1, true);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::munmap(place, 4096);
}

TEST(futex, errno_survives) {
  std::atomic<std::uint32_t> word{0};
  errno = 1234;
  futex_wait(word, 1, k_no_timeout, false);
  futex_wake(word, 1, false);
  EXPECT_EQ(errno, 1234);
}

}  // namespace
}  // namespace shoal::machine
