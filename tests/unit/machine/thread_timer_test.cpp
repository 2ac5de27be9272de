// SPDX-License-Identifier: Apache-2.0
#include "machine/thread_timer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

namespace shoal::machine {
namespace {

struct calls {
  std::atomic<int> count{0};
  std::atomic<int> elsewhere{0};
  std::thread::id owner = std::this_thread::get_id();
  std::uint64_t next_ns = 100'000;
};

std::uint64_t note(void* data) noexcept {
  auto& c = *static_cast<calls*>(data);
  c.count.fetch_add(1, std::memory_order_relaxed);
  if (std::this_thread::get_id() != c.owner) c.elsewhere.fetch_add(1, std::memory_order_relaxed);
  errno = EDOM;
  return c.next_ns;
}

void compute_until(const std::atomic<int>& count, int wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (count.load(std::memory_order_relaxed) < wanted && std::chrono::steady_clock::now() < end) continue;
}

// As long as a timer of another thread takes for 20 calls.
void wait_for_calls_elsewhere() {
  std::thread([] {
    calls c;
    const thread_timer timer(note, &c, 100'000);
    compute_until(c.count, 20);
  }).join();
}

TEST(thread_timer, interrupts_its_thread_again_and_again_until_it_is_destroyed) {
  calls c;
  errno = 0;
  {
    const thread_timer timer(note, &c, 100'000);
    compute_until(c.count, 20);
  }
  const int at_end = c.count.load();
  EXPECT_GE(at_end, 20);
  EXPECT_EQ(c.elsewhere.load(), 0);
  EXPECT_EQ(errno, 0);
  wait_for_calls_elsewhere();
  EXPECT_EQ(c.count.load(), at_end);
}

TEST(thread_timer, stops_when_the_function_says_so) {
  calls c;
  c.next_ns = 0;
  const thread_timer timer(note, &c, 1000);
  compute_until(c.count, 1);
  wait_for_calls_elsewhere();
  EXPECT_EQ(c.count.load(), 1);
}

TEST(thread_timer, is_one_for_each_thread) {
  constexpr int k_threads = 4;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < k_threads; ++i)
    threads.emplace_back([&right] {
      calls c;
      const thread_timer timer(note, &c, 50'000);
      compute_until(c.count, 10);
      if (c.count.load() >= 10 && c.elsewhere.load() == 0) right.fetch_add(1);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right.load(), k_threads);
}

}  // namespace
}  // namespace shoal::machine
