// SPDX-License-Identifier: Apache-2.0
// Sorting over nodes: every distribution, in jobs of all shapes, against std::stable_sort.
#include "shoal/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::distribution;
using shoal::distribution_plan;
using shoal::global_array;

class sort_nodes : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(sort_nodes);
INSTANTIATE_TEST_SUITE_P(many, sort_nodes, testing::Values(shoal::test::job_shape{16, 1, false}), shoal::test::name_of);

/// All on the last node, none on the first, a few on the second, most on the third.
std::vector<distribution_plan> plans_for(std::uint64_t size) {
  std::vector<distribution_plan> all{distribution::partition,  distribution::local,
                                     distribution::remote,     distribution::cyclic,
                                     shoal::block_cyclic(100), shoal::partition_from(shoal::node_count() - 1)};
  std::vector<std::uint64_t> bounds(shoal::node_count() + std::size_t{1}, size);
  bounds[0] = 0;
  for (std::size_t n = 1; n + 1 < bounds.size(); ++n)
    bounds[n] = n == 1 ? 0 : n == 2 ? std::min<std::uint64_t>(size, 3) : size - size / (n * n);
  all.push_back(shoal::blocks_at(bounds));
  return all;
}

template <class T>
std::vector<T> contents(const global_array<T>& a) {
  std::vector<T> v(a.size());
  a->get(0, std::span(v));
  return v;
}
template <class T>
void set(const global_array<T>& a, const std::vector<T>& v) {
  a->put(0, std::span<const T>(v));
}

/// Data set 0: random; 1: few different; 2: in order; 3: the reverse; 4: all equal.
template <class T>
std::vector<T> numbers(std::uint64_t size, unsigned set) {
  std::vector<T> v(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t w = set == 0   ? shoal::mix64(i)
                            : set == 1 ? shoal::mix64(i) % 5
                            : set == 2 ? i
                            : set == 3 ? size - i
                                       : 7;
    v[i] = static_cast<T>(static_cast<std::int64_t>(w));
  }
  return v;
}

template <class T>
void check_keys(std::uint64_t size, const distribution_plan& plan, unsigned which) {
  const global_array<T> a(size, plan);
  auto wanted = numbers<T>(size, which);
  set(a, wanted);
  shoal::sort(a);
  std::sort(wanted.begin(), wanted.end());
  ASSERT_TRUE(contents(a) == wanted) << size << " keys, data set " << which << ", distribution "
                                     << static_cast<int>(plan.kind);
}

TEST_P(sort_nodes, keys_of_every_distribution) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 2048, 2049, 9000})
      for (const auto& plan : plans_for(size))
        for (unsigned which = 0; which < (size < 9000 ? 2U : 5U); ++which) {
          check_keys<std::uint32_t>(size, plan, which);
          if (which == 0) check_keys<double>(size, plan, which);
        }
  });
}

TEST_P(sort_nodes, values_with_keys_and_stable) {
  run([] {
    constexpr std::uint64_t k_size = 5000;
    const auto given = numbers<std::int16_t>(k_size, 1);
    std::vector<std::uint64_t> order(k_size);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    auto wanted = order;
    std::stable_sort(wanted.begin(), wanted.end(), [&](auto a, auto b) { return given[a] < given[b]; });
    for (const auto& plan : plans_for(k_size)) {
      const global_array<std::int16_t> keys(k_size, plan);
      const global_array<std::uint64_t> values(k_size, distribution::partition);
      set(keys, given);
      set(values, order);
      shoal::sort_by_key(keys, values);
      EXPECT_TRUE(contents(values) == wanted) << static_cast<int>(plan.kind);
      const auto sorted = contents(keys);
      EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
    }
  });
}

struct record {
  std::uint32_t key;
  std::uint32_t place;
  double more;
  bool operator==(const record&) const = default;
};

TEST_P(sort_nodes, by_comparison_and_stable) {
  run([] {
    for (const std::uint64_t size : {10, 6000})
      for (const std::uint64_t different : {1, 7, 1 << 20}) {
        std::vector<record> given(size);
        for (std::uint64_t i = 0; i < size; ++i)
          given[i] = {static_cast<std::uint32_t>(shoal::mix64(i) % different), static_cast<std::uint32_t>(i), 0.5};
        const auto less = [](const record& a, const record& b) { return a.key > b.key; };
        auto wanted = given;
        std::stable_sort(wanted.begin(), wanted.end(), less);
        for (const auto& plan : plans_for(size)) {
          const global_array<record> a(size, plan);
          set(a, given);
          shoal::sort(a.ref(), less);
          EXPECT_TRUE(contents(a) == wanted) << size << ", " << different << ", " << static_cast<int>(plan.kind);
        }
      }
  });
}

TEST_P(sort_nodes, values_by_a_comparison_of_their_keys) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 100, 5000}) {
      const auto given = numbers<std::int32_t>(size, 1);
      std::vector<std::uint64_t> order(size);
      std::iota(order.begin(), order.end(), std::uint64_t{0});
      auto wanted = order;
      std::stable_sort(wanted.begin(), wanted.end(), [&](auto a, auto b) { return given[a] > given[b]; });
      for (const auto& plan : plans_for(size)) {
        const global_array<std::int32_t> keys(size, plan);
        const global_array<std::uint64_t> values(size, distribution::cyclic);
        set(keys, given);
        set(values, order);
        shoal::sort_by_key(keys, values, std::greater<>{});
        EXPECT_TRUE(contents(values) == wanted) << size << ", " << static_cast<int>(plan.kind);
        const auto sorted = contents(keys);
        EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(), std::greater<>{}));
      }
    }
  });
}

TEST_P(sort_nodes, truth_values) {
  run([] {
    for (const std::uint64_t size : {1, 5, 3000}) {
      const global_array<bool> a(size, distribution::cyclic);
      std::uint64_t ones = 0;
      for (std::uint64_t i = 0; i < size; ++i) {
        const bool one = shoal::mix64(i) % 3 == 0;
        ones += one ? 1 : 0;
        a->async_put(i, one);
      }
      shoal::wait();
      shoal::sort(a);
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(a->get(i), i >= size - ones) << i << " of " << size;
      shoal::sort(a, std::greater<>{});
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(a->get(i), i < ones) << i << " of " << size;
    }
  });
}

// Buffered lines, several blocks, more runs than are merged.
TEST_P(sort_nodes, many_keys) {
  if (nodes() != 1 && nodes() != 2 && nodes() != 16) GTEST_SKIP() << "three of the shapes are enough";
  run([] {
    for (unsigned which : {0U, 1U}) check_keys<std::uint32_t>(1'500'000, distribution::partition, which);
  });
}

TEST_P(sort_nodes, memory_of_this_node) {
  run([] {
    std::vector<std::int64_t> v = numbers<std::int64_t>(3000, 0);
    std::vector<char> c(v.size(), 'x');
    shoal::sort(v);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    shoal::sort(std::span(v), std::greater<>{});
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), std::greater<>{}));
    shoal::sort_by_key(v, c);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    shoal::sort_by_key(std::span(v), c, std::greater<>{});
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), std::greater<>{}));
  });
}

TEST_P(sort_nodes, values_must_be_as_many_as_keys) {
  run([] {
    const global_array<std::uint32_t> keys(10);
    const global_array<std::uint32_t> values(11);
    EXPECT_THROW(shoal::sort_by_key(keys, values), shoal::error);
    EXPECT_THROW(shoal::sort_by_key(keys, values, std::greater<>{}), shoal::error);
    std::vector<int> memory(3);
    EXPECT_THROW(shoal::sort_by_key(memory, std::span(memory).first(2)), shoal::error);
  });
}

TEST(sort_memory, that_there_is_not_is_refused_before_anything_is_changed) {
  auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
  c.nodes = 2;
  c.workers = 1;
  c.pin = false;
  c.segment_bytes = std::uint64_t{8} << 20;
  shoal::runtime::run_in_process(c, [] {
    constexpr std::uint64_t k_size = 1'500'000;  // 6 MB of each node's 8
    const global_array<std::uint64_t> a(k_size);
    const auto given = numbers<std::uint64_t>(k_size, 0);
    set(a, given);
    try {
      shoal::sort(a);
      ADD_FAILURE() << "there is no memory for it";
    } catch (const shoal::error& e) {
      EXPECT_EQ(e.code(), shoal::errc::out_of_memory) << e.what();
    }
    EXPECT_TRUE(contents(a) == given);
    return 0;
  });
}

}  // namespace
