// SPDX-License-Identifier: Apache-2.0
#include "rank/eager_windows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal::rank {
namespace {

TEST(eager_windows, has_room_for_one_window_per_pair) {
  eager_windows w(1000);
  constexpr std::uint64_t k_bytes = eager_windows::k_window_bytes / 16;
  for (const std::uint32_t node : {0U, 63U, 64U, 999U}) {
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(w.take(node, k_bytes));
    EXPECT_FALSE(w.take(node, 1));
    w.give_back(node, k_bytes);
    EXPECT_TRUE(w.take(node, k_bytes));
    EXPECT_FALSE(w.take(node, 1));
  }
}

TEST(eager_windows, returns_in_batches_and_nothing_is_lost) {
  eager_windows w(3);
  std::uint64_t returned = 0;
  constexpr std::uint64_t k_bytes = 1000;
  constexpr std::uint64_t k_messages = 10'000;
  int batches = 0;
  for (std::uint64_t i = 0; i < k_messages; ++i)
    if (const std::uint64_t now = w.received(2, k_bytes); now != 0) {
      EXPECT_GE(now, eager_windows::k_batch_bytes);
      returned += now;
      ++batches;
    }
  EXPECT_EQ(batches, k_messages * k_bytes / (eager_windows::k_batch_bytes + k_bytes));
  EXPECT_LT(k_messages * k_bytes - returned, eager_windows::k_batch_bytes);
}

// A sender that is refused goes on otherwise; what is returned lets it send ahead again.
TEST(eager_windows, serves_many_workers_at_once) {
  eager_windows sender(70);
  eager_windows receiver(70);
  constexpr std::uint64_t k_bytes = 5000;
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t)
    workers.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!sender.take(65, k_bytes)) continue;
        sent.fetch_add(1);
        if (const std::uint64_t back = receiver.received(65, k_bytes); back != 0) sender.give_back(65, back);
      }
    });
  for (std::thread& t : workers) t.join();
  EXPECT_GT(sent.load(), eager_windows::k_window_bytes / k_bytes);
  // All has been received: at most a batch is not returned.
  std::uint64_t free = 0;
  while (sender.take(65, 1000)) free += 1000;
  EXPECT_GT(free, eager_windows::k_window_bytes - eager_windows::k_batch_bytes - 1000);
}

}  // namespace
}  // namespace shoal::rank
