// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/heat/kernel.hpp"

#include <gtest/gtest.h>

namespace problems::heat {
namespace {

TEST(problem_heat, sweeps_give_what_is_known) {
  for (std::uint64_t size : {8U, 9U, 200U}) {
    problem p(size);
    for (int round = 0; round < 2; ++round) {
      p.prepare();
      EXPECT_FALSE(p.valid({}));
      sweep_serially(p.grid, problem::k_sweeps);
      EXPECT_TRUE(p.valid({})) << size;
    }
    EXPECT_EQ(p.work({}), (size - 2) * (size - 2) * problem::k_sweeps);
  }
}

// All rows of every sweep but one of them, next to the edge where there is least to see.
TEST(problem_heat, the_check_finds_one_row_left_out_of_one_sweep) {
  for (std::size_t when : {std::size_t{0}, problem::k_sweeps / 2, problem::k_sweeps - 1}) {
    problem p(300);
    p.prepare();
    for (std::size_t k = 0; k < problem::k_sweeps; ++k) {
      p.grid.update_rows(k == when ? 2 : 1, p.grid.last_row());
      p.grid.end_sweep();
    }
    EXPECT_FALSE(p.valid({})) << "left out of sweep " << when;
  }
}

TEST(problem_heat, the_check_finds_a_sweep_too_many) {
  problem p(100);
  p.prepare();
  sweep_serially(p.grid, problem::k_sweeps + 1);
  EXPECT_FALSE(p.valid({}));
}

}  // namespace
}  // namespace problems::heat
