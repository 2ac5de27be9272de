// SPDX-License-Identifier: Apache-2.0
// The algorithms against plain loops, for groups of many sizes: the members are tasks of one pool.
#include "shoal/detail/collectives.hpp"
#include "collectives/algorithm_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::collectives {
namespace {

// Where members leave messages for each other. With `waits`, every sender waits until its message is expected.
class post_office {
public:
  explicit post_office(bool waits) : waits_(waits) {}

  struct place {
    std::span<std::byte> target;
    std::vector<std::byte> early;
    bool expected = false;
    bool arrived = false;
  };
  using name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // sender, receiver, step

  void expect(const name& n, std::span<std::byte> target) {
    const std::lock_guard held(lock_);
    place& p = places_[n];
    ASSERT_FALSE(p.expected);
    p.expected = true;
    p.target = target;
    if (p.arrived) hand_over(p, p.early);
    changed_.notify_all();
  }
  void await(const name& n) {
    std::unique_lock held(lock_);
    place& p = places_.at(n);
    changed_.wait(held, [&p] { return p.arrived; });
    places_.erase(n);
  }
  void send(const name& n, std::span<const std::byte> bytes) {
    std::unique_lock held(lock_);
    ++messages_[std::get<0>(n)];
    place& p = places_[n];
    ASSERT_FALSE(p.arrived);
    if (waits_) changed_.wait(held, [&p] { return p.expected; });
    p.arrived = true;
    if (p.expected)
      hand_over(p, bytes);
    else
      p.early.assign(bytes.begin(), bytes.end());
    changed_.notify_all();
  }
  // When the members have ended:
  bool empty() const { return places_.empty(); }
  std::size_t most_messages() const {
    std::size_t most = 0;
    for (const auto& [rank, count] : messages_) most = std::max(most, count);
    return most;
  }

private:
  static void hand_over(const place& p, std::span<const std::byte> bytes) {
    ASSERT_EQ(p.target.size(), bytes.size());
    std::ranges::copy(bytes, p.target.begin());
  }

  const bool waits_;
  shoal::mutex lock_;
  shoal::condition_variable changed_;
  std::map<name, place> places_;
  std::map<std::uint32_t, std::size_t> messages_;
};

class test_link final : public link {
public:
  test_link(post_office& office, std::uint32_t rank, std::uint32_t size, const algorithm_table* algorithms)
      : link(rank, size, algorithms), office_(office) {}
  void expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) override {
    office_.expect({from, rank(), step}, target);
  }
  void await(std::uint32_t from, std::uint32_t step) override { office_.await({from, rank(), step}); }
  void send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) override {
    ASSERT_NE(to, rank());
    office_.send({rank(), to, step}, bytes);
  }

private:
  post_office& office_;
};

struct group_kind {
  std::uint32_t members;
  bool waits;
  const char* rows = nullptr;  // other algorithms than the built-in ones
};
// Whatever the size.
constexpr const char* k_long =
    "broadcast 0 0 scattered, reduce 0 0 rabenseifner, all_reduce 0 0 rabenseifner, gather 0 0 straight, "
    "scatter 0 0 straight, all_gather 0 0 ring, all_to_all 0 0 pairwise";
constexpr const char* k_short =
    "broadcast 0 0 binomial, reduce 0 0 binomial, all_reduce 0 0 doubling, gather 0 0 binomial, scatter 0 0 binomial, "
    "all_gather 0 0 bruck, all_to_all 0 0 bruck";

class groups : public testing::TestWithParam<group_kind> {
protected:
  static std::uint32_t members() { return GetParam().members; }

  // Runs member(link) for each member. Returns the largest number of messages that a member has sent; 0 where that is
  // not what the built-in algorithms promise.
  template <class F>
  static std::size_t run(const F& member) {
    post_office office(GetParam().waits);
    const auto algorithms = [table = GetParam().rows == nullptr
                                         ? nullptr
                                         : std::make_unique<algorithm_table>(GetParam().rows)] { return table.get(); };
    sched::run_pool(2, [&] {
      shoal::task_group all;
      for (std::uint32_t r = 0; r < members(); ++r)
        all.run([&, r] {
          test_link to(office, r, members(), algorithms());
          member(to);
        });
      all.wait();
    });
    EXPECT_TRUE(office.empty());
    return GetParam().rows == nullptr ? office.most_messages() : 0;
  }
  static std::vector<std::uint32_t> some_roots() {
    std::vector<std::uint32_t> roots{0, members() / 2, members() - 1};
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    return roots;
  }
  static std::size_t rounds() {
    std::size_t count = 0;
    while ((std::uint32_t{1} << count) < members()) ++count;
    return count;
  }
};

INSTANTIATE_TEST_SUITE_P(
    sizes, groups,
    testing::Values(group_kind{1, false}, group_kind{2, true}, group_kind{3, true}, group_kind{4, false},
                    group_kind{5, true}, group_kind{7, false}, group_kind{8, true}, group_kind{13, true},
                    group_kind{16, false}, group_kind{33, true}, group_kind{100, false}, group_kind{2, false, k_long},
                    group_kind{3, true, k_long}, group_kind{5, false, k_long}, group_kind{16, true, k_long},
                    group_kind{33, false, k_long}, group_kind{100, true, k_long}, group_kind{2, true, k_short},
                    group_kind{5, true, k_short}, group_kind{33, false, k_short}),
    [](const auto& given) {
      const std::string rows = given.param.rows == nullptr ? "" : given.param.rows == k_long ? "_long" : "_short";
      return std::to_string(given.param.members) + (given.param.waits ? "_waiting" : "_early") + rows;
    });

std::vector<std::uint64_t> numbers(std::uint64_t seed, std::size_t count) {
  std::vector<std::uint64_t> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = mix64(seed * 1000003 + i);
  return v;
}
template <class T>
std::span<std::byte> bytes(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}
template <class T>
std::span<const std::byte> const_bytes(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}

// Lengths of vectors, in words, with both algorithms.
// Of the built-in table.
constexpr std::size_t k_long_vector_bytes = 16384;
constexpr std::size_t k_long_block_bytes = 4096;
constexpr std::size_t k_short_block_bytes = 256;
constexpr std::size_t k_lengths[] = {0, 1, 3, 200, k_long_vector_bytes / 8, k_long_vector_bytes / 8 + 977};

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

TEST_P(groups, reductions_combine_in_the_order_of_ranks) {
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

TEST_P(groups, reduce_scatter_leaves_each_member_its_block) {
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

TEST_P(groups, scans_give_each_member_what_lies_before_it) {
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
