// SPDX-License-Identifier: Apache-2.0
// Groups whose members are tasks of one pool, with links through memory; for the tests of the algorithms.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/algorithm_table.hpp"
#include "shoal/detail/collectives.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/rounds.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::collectives {

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
inline constexpr const char* k_long =
    "broadcast 0 0 scattered, reduce 0 0 rabenseifner, all_reduce 0 0 rabenseifner, gather 0 0 straight, "
    "scatter 0 0 straight, all_gather 0 0 ring, all_to_all 0 0 pairwise";
inline constexpr const char* k_short =
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

inline std::vector<std::uint64_t> numbers(std::uint64_t seed, std::size_t count) {
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

// The thread sanitizer takes most of its time for the stacks of so many tasks.
inline constexpr std::uint32_t k_many_members = rounds(100U, 40U);

// Of some sizes, with links that wait and that do not, and with other algorithms than the built-in ones.
inline auto some_groups() {
  return testing::Values(group_kind{1, false}, group_kind{2, true}, group_kind{3, true}, group_kind{4, false},
                         group_kind{5, true}, group_kind{7, false}, group_kind{8, true}, group_kind{13, true},
                         group_kind{16, false}, group_kind{33, true}, group_kind{k_many_members, false},
                         group_kind{2, false, k_long}, group_kind{3, true, k_long}, group_kind{5, false, k_long},
                         group_kind{16, true, k_long}, group_kind{33, false, k_long},
                         group_kind{k_many_members, true, k_long}, group_kind{2, true, k_short},
                         group_kind{5, true, k_short}, group_kind{33, false, k_short});
}
inline std::string name_of_group(const testing::TestParamInfo<group_kind>& given) {
  const std::string rows = given.param.rows == nullptr ? "" : given.param.rows == k_long ? "_long" : "_short";
  return std::to_string(given.param.members) + (given.param.waits ? "_waiting" : "_early") + rows;
}

// Of the built-in table.
inline constexpr std::size_t k_long_vector_bytes = 16384;
inline constexpr std::size_t k_long_block_bytes = 4096;
inline constexpr std::size_t k_short_block_bytes = 256;
// Lengths of vectors, in words, with both algorithms.
inline constexpr std::size_t k_lengths[] = {0, 1, 3, 200, k_long_vector_bytes / 8, k_long_vector_bytes / 8 + 977};

}  // namespace shoal::collectives
