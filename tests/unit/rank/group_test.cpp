// SPDX-License-Identifier: Apache-2.0
// Random groups, against sets of ranks.
#include "rank/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "rank/error.hpp"
#include "shoal/random.hpp"

namespace shoal::rank {
namespace {

std::vector<int> ranks(const group& g) {
  std::vector<int> all;
  for (int i = 0; i < g.size(); ++i) all.push_back(g.world_of(i));
  return all;
}

std::vector<int> random_ranks(xoshiro256ss& random) {
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  all.resize(random() % 13);
  return all;
}

bool has(const std::vector<int>& all, int r) { return std::ranges::find(all, r) != all.end(); }

TEST(group, sets_are_those_of_the_standard) {
  xoshiro256ss random(3);
  for (int round = 0; round < 300; ++round) {
    const std::vector<int> a = random_ranks(random), b = random_ranks(random);
    const group_ref ga = group::of_ranks(a), gb = group::of_ranks(b);
    ASSERT_EQ(ranks(*ga), a);
    std::vector<int> both, either = a, first;
    for (const int r : a) (has(b, r) ? both : first).push_back(r);
    for (const int r : b)
      if (!has(a, r)) either.push_back(r);
    ASSERT_EQ(ranks(*united(*ga, *gb)), either);
    ASSERT_EQ(ranks(*intersected(*ga, *gb)), both);
    ASSERT_EQ(ranks(*without(*ga, *gb)), first);
    for (int r = 0; r < 12; ++r) ASSERT_EQ(ga->rank_of(r), has(a, r) ? std::ranges::find(a, r) - a.begin() : -1);
    std::vector<int> as = a, bs = b;
    std::ranges::sort(as);
    std::ranges::sort(bs);
    ASSERT_EQ(compare(*ga, *gb), a == b ? MPI_IDENT : as == bs ? MPI_SIMILAR : MPI_UNEQUAL);
  }
}

TEST(group, ranks_at_equal_distances_are_found) {
  for (const int stride : {1, 7, -1, -3})
    for (const int n : {1, 2, 5}) {
      std::vector<int> a;
      for (int i = 0; i < n; ++i) a.push_back(50 + i * stride);
      const group_ref g = group::of_ranks(a);
      ASSERT_EQ(ranks(*g), a);
      for (int r = 0; r < 100; ++r) ASSERT_EQ(g->rank_of(r), has(a, r) ? std::ranges::find(a, r) - a.begin() : -1);
    }
}

TEST(group, a_range_of_the_world_is_no_list) {
  const group_ref all = group::of_range(0, 100'000'000);
  EXPECT_EQ(all->world_of(77'777'777), 77'777'777);
  EXPECT_EQ(all->rank_of(99'999'999), 99'999'999);
  EXPECT_EQ(all->rank_of(100'000'000), -1);
  EXPECT_EQ(compare(*group::of_range(3, 4), *group::of_ranks({3, 4, 5, 6})), MPI_IDENT);
}

TEST(group, chosen_ranks_keep_their_order) {
  const group_ref g = group::of_ranks({10, 20, 30, 40, 50});
  const int some[] = {4, 0};
  EXPECT_EQ(ranks(*chosen(*g, some)), (std::vector<int>{50, 10}));
  EXPECT_EQ(ranks(*not_chosen(*g, some)), (std::vector<int>{20, 30, 40}));
  const int triples[][3] = {{4, 0, -2}, {1, 1, 1}};
  EXPECT_EQ(ranks_of(*g, triples), (std::vector<int>{4, 2, 0, 1}));
  const int wrong[] = {5};
  EXPECT_THROW(chosen(*g, wrong), mpi_error);
}

}  // namespace
}  // namespace shoal::rank
