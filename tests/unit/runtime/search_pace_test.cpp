// SPDX-License-Identifier: Apache-2.0
#include "runtime/search_pace.hpp"

#include <gtest/gtest.h>

namespace shoal::runtime {
namespace {

constexpr std::uint64_t k_second_ns = 1'000'000'000;

// How many looks there are in `seconds`, if it is asked ten times in a second.
int looks(std::uint64_t seconds, std::uint64_t cost_ns, bool suspected) {
  search_pace pace;
  int n = 0;
  for (std::uint64_t now_ns = k_second_ns; now_ns < (seconds + 1) * k_second_ns; now_ns += k_second_ns / 10)
    if (pace.is_due(now_ns, suspected, [] { return true; })) {
      ++n;
      pace.looked(now_ns, cost_ns, false);
    }
  return n;
}

TEST(search_pace, looks_take_a_bounded_share_of_the_time_beside_contended_mutexes) {
  EXPECT_EQ(looks(1000, 0, false), 100);  // one in ten seconds
  EXPECT_EQ(looks(1000, k_second_ns / 100, false), 100);
  EXPECT_EQ(looks(1000, k_second_ns / 10, false), 20);
  EXPECT_EQ(looks(1000, k_second_ns, false), 2);
}

TEST(search_pace, wrong_suspicions_cost_a_bounded_share_too) {
  EXPECT_EQ(looks(100, 0, true), 1000);
  EXPECT_LE(looks(100, k_second_ns / 10, true), 51);
  EXPECT_LE(looks(1000, k_second_ns, true), 51);
}

TEST(search_pace, looks_several_times_after_a_suspicion_until_a_cycle_is_found) {
  const auto never = [] { return false; };
  for (const bool finds : {false, true}) {
    search_pace pace;
    EXPECT_FALSE(pace.is_due(k_second_ns, false, never));
    int n = 0;
    for (std::uint64_t i = 0; i < 100; ++i)
      if (pace.is_due(k_second_ns + i * k_second_ns / 10, i == 0, never)) {
        ++n;
        pace.looked(k_second_ns + i * k_second_ns / 10, 0, finds && n == 3);
      }
    EXPECT_EQ(n, finds ? 3 : 20);
  }
}

}  // namespace
}  // namespace shoal::runtime
