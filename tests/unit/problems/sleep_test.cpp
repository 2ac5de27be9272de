// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/sleep/kernel.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace problems::sleep {
namespace {

TEST(problem_sleep, the_check_finds_who_wakes_too_early_or_not_at_all) {
  problem p(3);
  p.prepare();
  const clock::time_point past = clock::now();
  p.woke(past);
  p.woke(past);
  EXPECT_FALSE(p.valid({}));
  p.woke(past);
  EXPECT_TRUE(p.valid({}));
  p.prepare();
  p.woke(past);
  p.woke(past);
  p.woke(past + std::chrono::hours(1));
  EXPECT_FALSE(p.valid({}));
}

}  // namespace
}  // namespace problems::sleep
