// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/entry_meter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal::mpi_threads {
namespace {

// Thread 1 is in a call all the time; of the calls that return meanwhile thread 0 makes `again` after its first one.
lock_report one_waits(unsigned again) {
  entry_meter meter(2, [] { return 0U; });
  std::atomic<int> step{0};
  std::thread waiter([&] {
    meter.begins();
    step.store(1);
    while (step.load() != 2) std::this_thread::yield();
    meter.returned();
  });
  while (step.load() != 1) std::this_thread::yield();
  for (unsigned i = 0; i <= again; ++i) {
    meter.begins();
    meter.returned();
  }
  step.store(2);
  waiter.join();
  return meter.report();
}

TEST(entry_meter, known_orders_give_known_factors) {
  const lock_report r = one_waits(9);
  EXPECT_EQ(r.acquisitions, 11U);
  EXPECT_EQ(r.contended, 9U);          // the first has nobody before it, the last nobody beside it
  EXPECT_DOUBLE_EQ(r.bias_core, 2.0);  // always the same one, where every second time is fair
  EXPECT_DOUBLE_EQ(r.bias_package, 1.0);
}

TEST(entry_meter, calls_within_calls_and_threads_without_room_do_not_count) {
  entry_meter meter(1, [] { return 0U; });
  {
    const entry outer(&meter);
    const entry inner(&meter);
  }
  EXPECT_EQ(meter.report().acquisitions, 1U);
  for (unsigned t = 0; t < entry_meter::k_threads_per_package + 3; ++t)
    std::thread([&] { const entry one(&meter); }).join();
  EXPECT_EQ(meter.report().acquisitions, entry_meter::k_threads_per_package);
  const entry nothing(nullptr);
}

TEST(entry_meter, threads_at_once) {
  entry_meter meter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) const entry one(&meter);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(meter.report().acquisitions, 9000U);
  EXPECT_LE(meter.report().contended, 9000U);
}

}  // namespace
}  // namespace shoal::mpi_threads
