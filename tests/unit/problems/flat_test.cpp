// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/flat/kernel.hpp"

#include <gtest/gtest.h>

namespace {

TEST(problem_flat, the_check_finds_a_task_left_out_and_one_run_twice) {
  problems::flat::problem p(1000);
  p.prepare();
  EXPECT_FALSE(p.valid({}));
  problems::flat::run_serially(999);
  EXPECT_FALSE(p.valid({}));
  problems::flat::run_serially(1);
  EXPECT_TRUE(p.valid({}));
  problems::flat::run_serially(1);
  EXPECT_FALSE(p.valid({}));
}

}  // namespace
