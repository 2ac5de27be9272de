// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/matmul/kernel.hpp"

#include <gtest/gtest.h>

namespace problems::matmul {
namespace {

TEST(problem_matmul, tiles_make_the_product) {
  problem p(3 * k_tile);
  p.prepare();
  EXPECT_FALSE(p.valid({}));
  multiply_serially(p.a, p.b, p.c);
  EXPECT_TRUE(p.valid({}));
  for (std::size_t i = 0; i < p.a.n; i += 37) {
    for (std::size_t j = 0; j < p.a.n; j += 11) {
      double sum = 0;
      for (std::size_t k = 0; k < p.a.n; ++k) sum += p.a.row(i)[k] * p.b.row(k)[j];
      ASSERT_EQ(p.c.row(i)[j], sum) << i << ", " << j;
    }
  }
}

TEST(problem_matmul, the_check_finds_one_wrong_cell_and_one_missing_tile) {
  problem p(2 * k_tile);
  p.prepare();
  multiply_serially(p.a, p.b, p.c);
  p.c.row(200)[3] += 1;
  EXPECT_FALSE(p.valid({}));
  p.prepare();
  for (std::size_t tile = 0; tile < 3; ++tile) multiply_tile(p.a, p.b, p.c, tile / 2, tile % 2);
  EXPECT_FALSE(p.valid({}));
  multiply_tile(p.a, p.b, p.c, 1, 1);
  EXPECT_TRUE(p.valid({}));
}

TEST(problem_matmul, refuses_sizes_that_tiles_do_not_fill) {
  for (std::uint64_t size : {0U, 100U, 1000U, 16384U}) EXPECT_THROW(problem{size}, std::invalid_argument) << size;
}

}  // namespace
}  // namespace problems::matmul
