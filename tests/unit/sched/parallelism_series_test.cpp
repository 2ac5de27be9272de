// SPDX-License-Identifier: Apache-2.0
#include "sched/parallelism_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace shoal::sched {
namespace {

TEST(parallelism_series, keeps_one_value_for_each_interval) {
  parallelism_series s(0.5, 8);
  EXPECT_DOUBLE_EQ(s.seconds_to_next(), 0.5);
  s.add(0.5, 2, 10);
  EXPECT_DOUBLE_EQ(s.seconds_to_next(), 1.0);
  s.add(1.01, 1, 20);
  EXPECT_EQ(s.running(), (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(s.offered(), (std::vector<std::uint32_t>{10, 20}));
  EXPECT_DOUBLE_EQ(s.interval_seconds(), 0.5);
}

TEST(parallelism_series, a_late_value_stands_for_the_intervals_missed) {
  parallelism_series s(1, 8);
  s.add(1, 1, 0);
  s.add(3.5, 4, 0);
  EXPECT_EQ(s.running(), (std::vector<std::uint32_t>{1, 4, 4}));
  EXPECT_DOUBLE_EQ(s.seconds_to_next(), 4);
}

TEST(parallelism_series, memory_is_bounded_and_means_stay) {
  constexpr std::size_t k_most = 16;
  parallelism_series s(1, k_most);
  double sum = 0;
  int values = 0;
  for (double at = s.seconds_to_next(); at <= 10'000; at = s.seconds_to_next(), ++values) {
    s.add(at, static_cast<std::uint32_t>(std::fmod(at, 8)), 3);
    ASSERT_LE(s.running().size(), k_most);
    ASSERT_EQ(s.running().size(), s.offered().size());
  }
  EXPECT_GE(s.running().size(), k_most / 2 - 1);
  EXPECT_GE(s.interval_seconds() * static_cast<double>(k_most + 1), 10'000);
  EXPECT_LE(s.interval_seconds(), 2048);
  for (const auto v : s.offered()) EXPECT_EQ(v, 3U);  // the mean of equal values is the value
  sum = std::accumulate(s.running().begin(), s.running().end(), 0.0);
  EXPECT_LE(sum / static_cast<double>(s.running().size()), 7);
  EXPECT_GT(values, 50);
}

TEST(parallelism_series, no_value_stands_for_time_after_it_was_sampled) {
  for (const std::size_t most : {2, 4, 16}) {
    parallelism_series s(1, most);
    for (double at = s.seconds_to_next(); at <= 1000; at = s.seconds_to_next()) {
      s.add(at, 1, 1);
      ASSERT_LE(s.interval_seconds() * static_cast<double>(s.running().size()), at) << most;
    }
  }
}

TEST(parallelism_series, halving_does_not_drift) {
  parallelism_series s(1, 4096);
  for (int i = 0; i < 64 * 4096; ++i)
    if (s.seconds_to_next() <= i + 1) s.add(i + 1, static_cast<std::uint32_t>(i % 2), 0);
  const double mean =
      std::accumulate(s.running().begin(), s.running().end(), 0.0) / static_cast<double>(s.running().size());
  EXPECT_GE(mean, 0.2);
  EXPECT_LE(mean, 1.0);
}

}  // namespace
}  // namespace shoal::sched
