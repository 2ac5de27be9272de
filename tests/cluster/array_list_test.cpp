// SPDX-License-Identifier: Apache-2.0
// Gather and scatter by lists of indices, and the verbs that report changes.
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "shoal/array.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_ref;
using shoal::distribution;
using shoal::everywhere;
using shoal::global_array;
using shoal::index_list;

class array_lists : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(array_lists);

constexpr std::uint64_t k_size = 5003;

// Random indices, then ascending ones: several in a row at one owner.
template <class Index>
std::vector<Index> some_indices(std::size_t count, std::uint64_t size = k_size) {
  shoal::splitmix64 random(7);
  std::vector<Index> list(count);
  for (Index& one : list) one = static_cast<Index>(random() % size);
  for (std::size_t k = count / 2; k < count; ++k) list[k] = static_cast<Index>(k % size);
  return list;
}

const shoal::distribution_plan k_plans[] = {distribution::partition, distribution::cyclic, distribution::local,
                                            shoal::block_cyclic(16)};

template <class T, class Index, class Value>
void check_gather(const shoal::distribution_plan& plan, const Value& value_of) {
  global_array<T> a(k_size, plan);
  for (std::uint64_t i = 0; i < k_size; ++i) a->async_put(i, value_of(i));
  shoal::wait();
  for (const std::size_t count : {0, 1, 63, 64, 65, 128, 9001}) {
    const auto indices = some_indices<Index>(count);
    const std::unique_ptr<T[]> got(new T[count]);  // std::vector<bool> has no elements
    a->gather(indices, std::span(got.get(), count));
    for (std::size_t k = 0; k < count; ++k) ASSERT_TRUE(got[k] == value_of(indices[k])) << k << " of " << count;
  }
}

struct pair_of_halves {
  std::uint32_t low;
  std::uint32_t high;
  bool operator==(const pair_of_halves&) const = default;
};
struct alignas(8) word_of_halves {
  std::uint32_t low;
  std::uint32_t high;
  bool operator==(const word_of_halves&) const = default;
};
struct large {
  std::uint64_t words[5];
  bool operator==(const large&) const = default;
};

TEST_P(array_lists, are_gathered_in_all_types) {
  run([] {
    for (const auto& plan : k_plans) {
      check_gather<std::uint64_t, std::uint64_t>(plan, [](std::uint64_t i) { return i * i << 20; });
      check_gather<double, std::uint32_t>(plan, [](std::uint64_t i) { return -0.5 * static_cast<double>(i); });
    }
    const auto& plan = k_plans[0];
    check_gather<std::int8_t, std::uint32_t>(plan, [](std::uint64_t i) { return static_cast<std::int8_t>(i); });
    check_gather<std::uint16_t, std::uint64_t>(plan, [](std::uint64_t i) { return static_cast<std::uint16_t>(7 * i); });
    check_gather<float, std::uint64_t>(plan, [](std::uint64_t i) { return static_cast<float>(i) / -4; });
    check_gather<bool, std::uint64_t>(plan, [](std::uint64_t i) { return i % 3 == 0; });
    check_gather<word_of_halves, std::uint32_t>(plan, [](std::uint64_t i) {
      return word_of_halves{static_cast<std::uint32_t>(i), ~static_cast<std::uint32_t>(i)};
    });
    check_gather<pair_of_halves, std::uint32_t>(plan, [](std::uint64_t i) {
      return pair_of_halves{static_cast<std::uint32_t>(i), 3};
    });
    check_gather<large, std::uint64_t>(plan, [](std::uint64_t i) { return large{{i, 1, 2, 3, ~i}}; });
  });
}

template <class T>
void check_scatter(const shoal::distribution_plan& plan) {
  global_array<T> a(k_size, plan);
  std::vector<std::uint64_t> indices(k_size);
  std::iota(indices.begin(), indices.end(), 0);
  for (std::uint64_t i = k_size - 1; i > 0; --i) std::swap(indices[i], indices[shoal::mix64(i) % (i + 1)]);
  std::vector<T> values(k_size);
  // Some fit into the header of a command, others do not.
  for (std::uint64_t k = 0; k < k_size; ++k) values[k] = static_cast<T>(k % 2 == 0 ? k % 100 : k * 40503);
  a->scatter(indices, values);
  std::vector<T> got(k_size);
  a->async_gather(indices, got);
  shoal::wait();
  ASSERT_EQ(got, values);
  a->scatter_add(indices, values);
  a->async_scatter_add(indices, values);
  shoal::wait();
  for (std::uint64_t k = 0; k < k_size; ++k) {
    const T three_times = static_cast<T>(static_cast<T>(values[k] + values[k]) + values[k]);
    ASSERT_EQ(a->get(indices[k]), three_times);
  }
  a->async_scatter(indices, values);
  shoal::wait();
  const std::vector<T> tens(k_size, T{10});
  a->async_scatter_max(indices, tens);
  shoal::wait();
  for (std::uint64_t k = 0; k < k_size; ++k) ASSERT_EQ(a->get(indices[k]), std::max(values[k], T{10}));
  a->async_scatter_min(indices, tens);
  shoal::wait();
  a->gather(indices, got);
  ASSERT_EQ(got, tens);
}

TEST_P(array_lists, are_scattered_and_added) {
  run([] {
    for (const auto& plan : k_plans) check_scatter<std::uint64_t>(plan);
    check_scatter<std::int32_t>(k_plans[1]);
    check_scatter<double>(k_plans[0]);
    global_array<large> a(100);
    std::vector<std::uint64_t> odd(50);
    std::vector<large> values(50);
    for (std::uint64_t k = 0; k < 50; ++k) odd[k] = 2 * k + 1, values[k] = {{k, k, k, k, ~k}};
    a->scatter(odd, values);
    for (std::uint64_t i = 0; i < 100; ++i)
      ASSERT_EQ(a->get(i), i % 2 == 0 ? large{} : (large{{i / 2, i / 2, i / 2, i / 2, ~(i / 2)}}));
  });
}

TEST_P(array_lists, add_exactly_from_all_nodes_with_others_in_between) {
  run([] {
    constexpr std::uint64_t k_tasks = 64, k_cells = 100;
    global_array<std::uint64_t> sums(k_cells, distribution::cyclic);
    shoal::parallel_for(everywhere, k_tasks, [s = sums.ref()](std::uint64_t task) {
      std::array<std::uint64_t, 200> indices;
      std::array<std::uint64_t, 200> ones;
      for (std::uint64_t k = 0; k < 200; ++k) indices[k] = shoal::mix64(task * 200 + k) % k_cells, ones[k] = 1;
      s.scatter_add(indices, ones);
      for (const std::uint64_t i : indices) s.async_add(i, 1);
      std::array<std::uint64_t, 200> got;
      s.gather(indices, got);
      for (const std::uint64_t v : got) EXPECT_GE(v, 1U);
    });
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < k_cells; ++i) total += sums->get(i);
    EXPECT_EQ(total, k_tasks * 400);
  });
}

TEST_P(array_lists, async_gathers_of_several_tasks_and_other_replies_keep_their_targets) {
  run([] {
    global_array<std::uint32_t> a(k_size);
    for (std::uint64_t i = 0; i < k_size; ++i) a->async_put(i, static_cast<std::uint32_t>(i));
    shoal::wait();
    shoal::parallel_for(everywhere, 32, [a = a.ref()](std::uint64_t task) {
      const auto indices = some_indices<std::uint32_t>(3000);
      std::vector<std::uint32_t> got(3000);
      std::array<std::uint32_t, 16> single;
      a.async_gather(indices, got);
      for (std::uint32_t k = 0; k < 16; ++k) {
        a.async_get(task + k, &single[k]);
        if (k % 4 != 3) continue;
        EXPECT_EQ(a.get(k_size - 1 - k), k_size - 1 - k);  // a reply for a task between those for values
      }
      std::vector<std::uint32_t> row(500);
      a.async_get(2250, std::span(row));
      shoal::wait();
      EXPECT_EQ(got, indices);
      for (std::uint32_t k = 0; k < 16; ++k) EXPECT_EQ(single[k], task + k);
      for (std::uint32_t k = 0; k < 500; ++k) EXPECT_EQ(row[k], 2250 + k);
    });
  });
}

template <class T>
void check_changes() {
  global_array<T> a(k_size, distribution::cyclic);
  std::uint64_t changes = 0;
  for (std::uint64_t i = 0; i < k_size; ++i) a->async_max(i, static_cast<T>(i % 3 == 0 ? 5 : 0), &changes);
  shoal::wait();
  EXPECT_EQ(changes, (k_size + 2) / 3);
  for (int again = 0; again < 2; ++again) {
    for (std::uint64_t i = 0; i < k_size; ++i) a->async_min(i, static_cast<T>(3), &changes);
    shoal::wait();
    EXPECT_EQ(changes, 2 * ((k_size + 2) / 3));
  }
  std::vector<T> before(k_size);
  for (std::uint64_t i = 0; i < k_size; ++i) a->async_fetch_max(i, static_cast<T>(1), &before[i]);
  shoal::wait();
  for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(before[i], static_cast<T>(i % 3 == 0 ? 3 : 0));
  for (std::uint64_t i = 0; i < k_size; ++i) a->async_fetch_min(i, static_cast<T>(2), &before[i]);
  shoal::wait();
  for (std::uint64_t i = 0; i < k_size; ++i) {
    ASSERT_EQ(before[i], static_cast<T>(i % 3 == 0 ? 3 : 1));
    ASSERT_EQ(a->get(i), static_cast<T>(i % 3 == 0 ? 2 : 1));
  }
}

TEST_P(array_lists, changes_are_counted) {
  run([] {
    check_changes<std::uint64_t>();
    check_changes<std::int16_t>();
    check_changes<float>();
    global_array<std::uint32_t> a(64);
    std::uint64_t changes = 0;
    std::vector<std::uint32_t> before(64);
    for (std::uint64_t i = 0; i < 64; ++i) a->async_bit_or(i, static_cast<std::uint32_t>(i % 4), &changes);
    shoal::wait();
    EXPECT_EQ(changes, 48U);
    for (std::uint64_t i = 0; i < 64; ++i) a->async_bit_and(i, ~std::uint32_t{1}, &changes);
    shoal::wait();
    EXPECT_EQ(changes, 48U + 32);
    for (std::uint64_t i = 0; i < 64; ++i) a->async_fetch_xor(i, 3, &before[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(before[i], i % 4 & ~1U);
    for (std::uint64_t i = 0; i < 64; ++i) a->async_bit_xor(i, 1);
    shoal::wait();
    for (std::uint64_t i = 0; i < 64; ++i) a->async_fetch_or(i, 4, &before[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(before[i], (i % 4 & ~1U) ^ 2U);
    for (std::uint64_t i = 0; i < 64; ++i) a->async_fetch_and(i, 4, &before[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(before[i], ((i % 4 & ~1U) ^ 2U) | 4U);
    for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(a->get(i), 4U);
  });
}

TEST_P(array_lists, handlers_gather_from_their_own_node) {
  run([] {
    global_array<std::uint64_t> a(1000);
    global_array<std::uint64_t> sums(shoal::node_count());
    for (std::uint64_t i = 0; i < a.size(); ++i) a->async_put(i, i);
    shoal::wait();
    for (std::uint32_t n = 0; n < shoal::node_count(); ++n)
      shoal::async_at(n, [a = a.ref(), sums = sums.ref()] {
        const auto range = a.local_range();
        const std::array<std::uint64_t, 3> indices{range.first, range.first + 1, range.first + range.count - 1};
        std::array<std::uint64_t, 3> got;
        a.gather(indices, got);
        sums.put(shoal::node_id(), got[0] + got[1] + got[2] == indices[0] + indices[1] + indices[2] ? 1 : 0);
      });
    shoal::wait();
    for (std::uint32_t n = 0; n < shoal::node_count(); ++n) EXPECT_EQ(sums->get(n), 1U);
  });
}

}  // namespace
