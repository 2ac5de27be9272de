// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using namespace shoal;

TEST(clock, now_never_goes_back) {
  std::uint64_t last = base::now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = base::now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(clock, now_is_the_steady_clock) {
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  const std::uint64_t now = base::now_ns();
  const auto after = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_GE(now, static_cast<std::uint64_t>(std::chrono::nanoseconds(before).count()));
  EXPECT_LE(now, static_cast<std::uint64_t>(std::chrono::nanoseconds(after).count()));
}

TEST(clock, another_may_be_set_and_taken_back) {
  const std::uint64_t before = base::machine_now_ns();
  EXPECT_EQ(base::set_clock([]() noexcept { return std::uint64_t{17}; }), nullptr);
  EXPECT_EQ(base::now_ns(), 17U);
  EXPECT_GE(base::machine_now_ns(), before);
  EXPECT_NE(base::set_clock(nullptr), nullptr);
  EXPECT_GE(base::now_ns(), before);
}

// Both clocks over the same sleep. A tenth of slack: the machine may take us off the core between two readings.
TEST(clock, ticks_measure_the_same_time) {
  const double rate = base::ticks_per_us();
  EXPECT_GT(rate, 0.5);
  EXPECT_EQ(rate, base::ticks_per_us());
  double error = 1;
  for (int attempt = 0; attempt < 10 && error > 0.1; ++attempt) {
    const std::uint64_t ns = base::now_ns();
    const std::uint64_t ticks = base::ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double by_ticks = static_cast<double>(base::ticks() - ticks) / rate;
    const double by_clock = static_cast<double>(base::now_ns() - ns) / 1000.0;
    error = std::abs(by_ticks / by_clock - 1);
  }
  EXPECT_LT(error, 0.1);
}

}  // namespace
