// SPDX-License-Identifier: Apache-2.0
// The algorithms that move blocks against plain loops, for groups of many sizes.
#include <atomic>
#include <iterator>

#include "unit/collectives/groups.hpp"

namespace shoal::collectives {
namespace {

INSTANTIATE_TEST_SUITE_P(sizes, groups, some_groups(), name_of_group);

TEST_P(groups, barrier_waits_for_all) {
  std::atomic<int> came{0};
  std::atomic<int> wrong{0};
  const std::size_t most = run([&](link& to) {
    came.fetch_add(1);
    barrier(to);
    if (came.load() != static_cast<int>(members())) wrong.fetch_add(1);
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(most, GetParam().rows == nullptr ? rounds() : 0);
}

TEST_P(groups, broadcast_brings_the_bytes_of_the_root) {
  for (const std::uint32_t root : some_roots())
    for (const std::size_t length : k_lengths) {
      const auto wanted = numbers(root, length);
      std::atomic<int> wrong{0};
      const std::size_t most = run([&](link& to) {
        auto mine = numbers(1000 + to.rank(), length);
        if (to.rank() == root) mine = wanted;
        broadcast(to, root, bytes(mine));
        if (mine != wanted) wrong.fetch_add(1);
      });
      EXPECT_EQ(wrong.load(), 0) << root << " " << length;
      EXPECT_LE(most, 3 * rounds());
    }
}

TEST_P(groups, gathers_bring_blocks_of_one_size) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{9}, k_long_block_bytes / 8 + 1}) {
    std::vector<std::uint64_t> wanted;
    for (std::uint32_t r = 0; r < members(); ++r) {
      const auto block = numbers(r, length);
      wanted.insert(wanted.end(), block.begin(), block.end());
    }
    std::atomic<int> wrong{0};
    for (const std::uint32_t root : some_roots()) {
      run([&](link& to) {
        std::vector<std::uint64_t> all(to.rank() == root ? wanted.size() : 0);
        gather(to, root, const_bytes(numbers(to.rank(), length)), bytes(all));
        if (to.rank() == root && all != wanted) wrong.fetch_add(1);
      });
      EXPECT_EQ(wrong.load(), 0) << length << " to " << root;
    }
    const std::size_t most = run([&](link& to) {
      std::vector<std::uint64_t> all(wanted.size());
      std::ranges::copy(numbers(to.rank(), length), all.begin() + static_cast<std::ptrdiff_t>(to.rank() * length));
      all_gather(to, equal_bounds(to.size(), length * 8), bytes(all));
      if (all != wanted) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << length;
    EXPECT_LE(most, 2 * rounds());
  }
}

// The words of member r: none, few, or more than go through the tree.
std::size_t length_of(std::uint32_t r) {
  switch (mix64(r) % 4) {
    case 0: return 0;
    case 1: return 1 + r;
    case 2: return k_long_block_bytes / 8 - 1;
    default: return k_long_block_bytes / 8 + r;
  }
}

TEST_P(groups, gathers_bring_blocks_of_any_sizes) {
  std::vector<std::uint64_t> wanted;
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t r = 0; r < members(); ++r) {
    const auto block = numbers(r, length_of(r));
    wanted.insert(wanted.end(), block.begin(), block.end());
    sizes.push_back(block.size() * 8);
  }
  const auto bounds = bounds_of(sizes);
  std::atomic<int> wrong{0};
  for (const std::uint32_t root : some_roots()) {
    run([&](link& to) {
      const bool is_root = to.rank() == root;
      std::vector<std::uint64_t> all(is_root ? wanted.size() : 0);
      gather_blocks(to, root, const_bytes(numbers(to.rank(), length_of(to.rank()))), [&](block_bounds found) {
        if (!is_root || !std::ranges::equal(found, bounds)) wrong.fetch_add(1);
        return bytes(all);
      });
      if (is_root && all != wanted) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << root;
    const std::size_t most = run([&](link& to) {
      const bool is_root = to.rank() == root;
      std::vector<std::uint64_t> mine;
      scatter_blocks(to, root, is_root ? block_bounds(bounds) : block_bounds(),
                     is_root ? const_bytes(wanted) : std::span<const std::byte>(), [&](std::size_t size) {
                       mine.resize(size / 8);
                       return bytes(mine);
                     });
      if (mine != numbers(to.rank(), length_of(to.rank()))) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << root;
    EXPECT_LE(most, 2 * rounds() + members());
  }
  run([&](link& to) {
    std::vector<std::uint64_t> all(wanted.size());
    std::ranges::copy(numbers(to.rank(), length_of(to.rank())),
                      all.begin() + static_cast<std::ptrdiff_t>(bounds[to.rank()] / 8));
    all_gather(to, bounds, bytes(all));
    if (all != wanted) wrong.fetch_add(1);
  });
  EXPECT_EQ(wrong.load(), 0);
}

std::uint64_t seed_of(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} * 1000 + to; }

TEST_P(groups, all_to_all_exchanges_blocks) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{5}, k_short_block_bytes / 8 + 1}) {
    std::atomic<int> wrong{0};
    const std::size_t most = run([&](link& to) {
      std::vector<std::uint64_t> mine;
      std::vector<std::uint64_t> wanted;
      for (std::uint32_t r = 0; r < members(); ++r) {
        std::ranges::copy(numbers(seed_of(to.rank(), r), length), std::back_inserter(mine));
        std::ranges::copy(numbers(seed_of(r, to.rank()), length), std::back_inserter(wanted));
      }
      std::vector<std::uint64_t> received(mine.size());
      all_to_all(to, const_bytes(mine), bytes(received));
      if (received != wanted) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0) << length;
    if (length * 8 <= k_short_block_bytes) {
      EXPECT_LE(most, rounds());
    }
  }
}

TEST_P(groups, all_to_all_exchanges_blocks_of_any_sizes) {
  const auto length = [](std::uint32_t from, std::uint32_t to) { return mix64(seed_of(from, to)) % 3 * (to + 17); };
  std::atomic<int> wrong{0};
  run([&](link& to) {
    std::vector<std::uint64_t> mine, wanted, given, taken;
    for (std::uint32_t r = 0; r < members(); ++r) {
      std::ranges::copy(numbers(seed_of(to.rank(), r), length(to.rank(), r)), std::back_inserter(mine));
      std::ranges::copy(numbers(seed_of(r, to.rank()), length(r, to.rank())), std::back_inserter(wanted));
      given.push_back(8 * length(to.rank(), r));
      taken.push_back(8 * length(r, to.rank()));
    }
    std::vector<std::uint64_t> received(wanted.size());
    all_to_all_blocks(to, const_bytes(mine), bounds_of(given), bytes(received), bounds_of(taken));
    if (received != wanted) wrong.fetch_add(1);
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(groups, second_phases_do_not_meet_the_first) {
  std::atomic<int> wrong{0};
  run([&](link& to) {
    second_phase rest(to);
    std::vector<std::uint64_t> a{to.rank()};
    std::vector<std::uint64_t> b{to.rank() + 100};
    broadcast(to, 0, bytes(a));
    broadcast(rest, members() - 1, bytes(b));
    if (a[0] != 0 || b[0] != members() + 99) wrong.fetch_add(1);
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace shoal::collectives
