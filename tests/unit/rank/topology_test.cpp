// SPDX-License-Identifier: Apache-2.0
#include "rank/topology.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

TEST(topology, coordinates_and_ranks_are_inverse) {
  topology t;
  t.kind = MPI_CART;
  t.dims = {3, 4, 5};
  t.periods = {0, 1, 0};
  EXPECT_EQ(t.size(), 60);
  for (int r = 0; r < 60; ++r) EXPECT_EQ(t.rank_at(t.coordinates(r)), r);
  EXPECT_EQ(t.coordinates(7), (std::vector<int>{0, 1, 2}));  // dimension 0 varies slowest
  EXPECT_EQ(t.rank_at(std::vector<int>{1, -1, 2}), t.rank_at(std::vector<int>{1, 3, 2}));
  EXPECT_EQ(t.rank_at(std::vector<int>{1, 9, 2}), t.rank_at(std::vector<int>{1, 1, 2}));
  EXPECT_EQ(t.rank_at(std::vector<int>{3, 0, 0}), MPI_PROC_NULL);
  EXPECT_EQ(t.rank_at(std::vector<int>{0, 0, -1}), MPI_PROC_NULL);
}

// What a rank sends to is what the other expects, in the order of the standard: per dimension the negative direction first.
TEST(topology, neighbours_of_grids_are_mutual) {
  topology t;
  t.kind = MPI_CART;
  t.dims = {2, 3};
  t.periods = {1, 0};
  for (int r = 0; r < 6; ++r) {
    const std::vector<int> to = t.sends_from(r), from = t.receives_at(r);
    ASSERT_EQ(to.size(), 4U);
    ASSERT_EQ(from.size(), 4U);
    for (std::size_t d = 0; d < 4; ++d)
      if (to[d] != MPI_PROC_NULL) {
        const std::vector<int> back = t.receives_at(to[d]);
        EXPECT_NE(std::ranges::find(back, r), back.end());
      }
  }
  EXPECT_EQ(t.sends_from(0), (std::vector<int>{3, 3, MPI_PROC_NULL, 1}));
}

TEST(topology, dims_are_balanced) {
  for (const int ranks : {1, 2, 6, 12, 13, 36, 64, 100, 1024, 30030}) {
    std::vector<int> dims(3, 0);
    balance(ranks, dims);
    EXPECT_EQ(std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>()), ranks);
    EXPECT_GE(dims[0], dims[1]);
    EXPECT_GE(dims[1], dims[2]);
  }
  std::vector<int> some{0, 4, 0};
  balance(24, some);
  EXPECT_EQ(some, (std::vector<int>{3, 4, 2}));
  std::vector<int> square{0, 0};
  balance(36, square);
  EXPECT_EQ(square, (std::vector<int>{6, 6}));
  std::vector<int> wrong{5, 0};
  EXPECT_THROW(balance(12, wrong), mpi_error);
}

}  // namespace
}  // namespace shoal::rank
