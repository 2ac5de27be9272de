// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/loop/kernel.hpp"

#include <gtest/gtest.h>

namespace {

TEST(problem_loop, the_check_finds_an_iteration_left_out_and_one_done_twice) {
  problems::loop::problem p(1000);
  p.prepare();
  EXPECT_FALSE(p.valid({}));
  problems::loop::run_serially(p.all);
  EXPECT_TRUE(p.valid({}));
  problems::loop::iteration(p.all.data(), 999);
  EXPECT_FALSE(p.valid({}));
  p.prepare();
  for (std::size_t i = 1; i < 1000; ++i) problems::loop::iteration(p.all.data(), i);
  EXPECT_FALSE(p.valid({}));
}

}  // namespace
