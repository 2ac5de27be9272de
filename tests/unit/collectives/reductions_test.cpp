// SPDX-License-Identifier: Apache-2.0
// Reductions and scans against plain loops, with an operation that does not commute.
#include <atomic>

#include "unit/collectives/groups.hpp"

namespace shoal::collectives {
namespace {

class reductions : public groups {};
INSTANTIATE_TEST_SUITE_P(sizes, reductions, some_groups(), name_of_group);

// Affine maps: their combination is associative and not commutative, so the order of ranks matters.
struct affine {
  std::uint64_t factor, term;
  bool operator==(const affine&) const = default;
};
affine then(const affine& a, const affine& b) { return {a.factor * b.factor, a.term * b.factor + b.term}; }
const reduction k_composition{
    [](const void*, const std::byte* lower, const std::byte* upper, std::byte* into, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        affine a, b;
        std::memcpy(&a, lower + i * sizeof a, sizeof a);
        std::memcpy(&b, upper + i * sizeof b, sizeof b);
        a = then(a, b);
        std::memcpy(into + i * sizeof a, &a, sizeof a);
      }
    },
    nullptr, sizeof(affine)};

std::vector<affine> maps_of(std::uint32_t rank, std::size_t count) {
  const auto words = numbers(rank + 1, 2 * count);
  std::vector<affine> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = {words[2 * i] | 1, words[2 * i + 1]};
  return v;
}
// Of members [first, end).
std::vector<affine> composed(std::uint32_t first, std::uint32_t end, std::size_t count) {
  std::vector<affine> all = maps_of(first, count);
  for (std::uint32_t r = first + 1; r < end; ++r) {
    const auto next = maps_of(r, count);
    for (std::size_t i = 0; i < count; ++i) all[i] = then(all[i], next[i]);
  }
  return all;
}

TEST_P(reductions, reductions_combine_in_the_order_of_ranks) {
  for (const std::size_t words : k_lengths) {
    const std::size_t length = words / 2;
    const auto wanted = composed(0, members(), length);
    std::atomic<int> wrong{0};
    const std::size_t most = run([&](link& to) {
      auto mine = maps_of(to.rank(), length);
      all_reduce(to, bytes(mine), k_composition);
      if (mine != wanted) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << length;
    EXPECT_LE(most, 2 * rounds() + 1);
    for (const std::uint32_t root : some_roots()) {
      run([&](link& to) {
        auto mine = maps_of(to.rank(), length);
        reduce(to, root, bytes(mine), k_composition);
        if (to.rank() == root && mine != wanted) wrong.fetch_add(1);
      });
      EXPECT_EQ(wrong.load(), 0) << length << " to " << root;
    }
  }
}

TEST_P(reductions, reduce_scatter_leaves_each_member_its_block) {
  for (const std::size_t words : k_lengths) {
    const std::size_t length = words / 2;
    // A third of the members have none.
    std::vector<std::uint64_t> sizes(members(), 0);
    std::size_t left = length;
    for (std::uint32_t r = 0; r < members(); ++r) {
      const std::size_t count = r + 1 == members() ? left
                                : r % 3 == 1       ? 0
                                                   : std::min<std::size_t>(left, 1 + length / members());
      sizes[r] = count * sizeof(affine);
      left -= count;
    }
    const auto bounds = bounds_of(sizes);
    const auto wanted = composed(0, members(), length);
    std::atomic<int> wrong{0};
    const std::size_t most = run([&](link& to) {
      auto mine = maps_of(to.rank(), length);
      reduce_scatter(to, bytes(mine), bounds, k_composition);
      const std::size_t first = bounds[to.rank()] / sizeof(affine);
      const std::size_t end = bounds[to.rank() + 1] / sizeof(affine);
      for (std::size_t i = first; i < end; ++i)
        if (mine[i] != wanted[i]) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << length;
    EXPECT_LE(most, rounds() + 1);
  }
}

TEST_P(reductions, scans_give_each_member_what_lies_before_it) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{57}}) {
    std::atomic<int> wrong{0};
    run([&](link& to) {
      auto mine = maps_of(to.rank(), length);
      scan(to, bytes(mine), k_composition);
      if (mine != composed(0, to.rank() + 1, length)) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << "scan " << length;
    run([&](link& to) {
      auto mine = maps_of(to.rank(), length);
      exscan(to, bytes(mine), k_composition);
      if (mine != (to.rank() == 0 ? maps_of(0, length) : composed(0, to.rank(), length))) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << "exscan " << length;
  }
}

}  // namespace
}  // namespace shoal::collectives
