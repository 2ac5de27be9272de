// SPDX-License-Identifier: Apache-2.0
#include "machine/parker.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "in_child.hpp"
#include "lockfree/doorbell.hpp"

namespace shoal::machine {
namespace {

using bell_parker = parker<lockfree::doorbell<>>;

TEST(parker, unpark_before_park_is_not_lost) {
  bell_parker place;
  place.prepare();
  EXPECT_TRUE(place.unpark());
  EXPECT_TRUE(place.park());
}

TEST(parker, unpark_without_a_sleeper_does_nothing) {
  bell_parker place;
  EXPECT_FALSE(place.unpark());
  place.prepare();
  place.cancel();
  EXPECT_FALSE(place.unpark());
}

TEST(parker, a_time_limit_ends_the_sleep_and_the_announcement) {
  bell_parker place;
  place.prepare();
  const auto start_ns = base::now_ns();
  EXPECT_FALSE(place.park(10'000'000));
  EXPECT_GE(base::now_ns() - start_ns, 10'000'000U);
  EXPECT_FALSE(place.unpark());
}

TEST(parker, no_message_is_lost_between_two_threads) {
  constexpr int k_messages = 20000;
  bell_parker place;
  std::atomic<int> published{0};
  std::thread waker([&] {
    for (int i = 0; i < k_messages; ++i) {
      published.fetch_add(1, std::memory_order_relaxed);
      place.unpark();
      if (i % 64 == 0) yield_processor();
    }
  });
  int taken = 0;
  while (taken < k_messages) {
    const int now = published.load(std::memory_order_relaxed);
    if (now > taken) {
      taken = now;
      continue;
    }
    place.prepare();
    if (published.load(std::memory_order_relaxed) > taken) {
      place.cancel();
    } else {
      place.park();
    }
  }
  waker.join();
  EXPECT_EQ(taken, k_messages);
}

TEST(parker, zeroed_shared_memory_is_a_parker_for_two_processes) {
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const place = static_cast<bell_parker*>(memory);
  auto* const flag = reinterpret_cast<std::atomic<int>*>(static_cast<std::byte*>(memory) + 64);
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag->store(1, std::memory_order_relaxed);
    place->unpark(true);
  });
  const int status = in_child([place, flag] {
    while (flag->load(std::memory_order_relaxed) == 0) {
      place->prepare();
      if (flag->load(std::memory_order_relaxed) != 0) {
        place->cancel();
      } else if (!place->park(10'000'000'000, true)) {
        return 1;
      }
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec == 0 ? 0 : 2;  // it slept
  });
  waker.join();
  EXPECT_TRUE(exited_with(status, 0)) << status;
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace shoal::machine
