// SPDX-License-Identifier: Apache-2.0
#include "shoal/distribution.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_ref;
using shoal::distribution;
using shoal::distribution_plan;
using shoal::global_array;

class distributions : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(distributions);
INSTANTIATE_TEST_SUITE_P(many_nodes, distributions,
                         testing::Values(shoal::test::job_shape{16, 1, true}, shoal::test::job_shape{16, 1, false}),
                         shoal::test::name_of);

// Boundaries with empty parts among them: node n has a part as long as n mod 3.
std::vector<std::uint64_t> uneven_bounds(std::uint64_t size) {
  std::vector<std::uint64_t> bounds{0};
  for (std::uint32_t n = 0; n + 1 < shoal::node_count(); ++n)
    bounds.push_back(std::min(size, bounds.back() + n % 3 * (size / shoal::node_count())));
  bounds.push_back(size);
  return bounds;
}

// Nodes with none, one and many blocks.
auto scattered_owner() {
  return [nodes = shoal::node_count()](std::uint64_t b) { return b * b % (nodes < 3 ? nodes : nodes - 1); };
}

std::vector<distribution_plan> all_plans(std::uint64_t size) {
  const std::uint32_t last = shoal::node_count() - 1;
  return {shoal::partition_from(last),
          shoal::cyclic_from(last),
          shoal::block_cyclic(1),
          shoal::block_cyclic(7, last),
          shoal::block_cyclic(4096),
          shoal::blocks_at(uneven_bounds(size)),
          shoal::weighted(std::vector<double>(shoal::node_count(), 0.7)),
          shoal::partition_on(last, (shoal::node_count() + 1) / 2),
          shoal::owned_by(9, scattered_owner())};
}

std::vector<std::uint64_t> numbers(std::uint64_t count, std::uint64_t from) {
  std::vector<std::uint64_t> v(count);
  std::iota(v.begin(), v.end(), from);
  return v;
}

TEST_P(distributions, elements_and_spans_arrive_where_they_belong) {
  run([] {
    for (const std::uint64_t size : {1, 5, 700, 40'000})
      for (const auto& plan : all_plans(size)) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(plan.kind) << " block " << plan.block << " size "
                                        << size);
        global_array<std::uint64_t> a(size, plan);
        const auto values = numbers(size, 1);
        a->put(0, std::span(values));
        std::vector<std::uint64_t> got(size);
        for (std::uint64_t i = 0; i < size; ++i) a->async_get(i, &got[i]);
        shoal::wait();
        ASSERT_EQ(got, values);
        for (std::uint64_t i = 0; i < size; ++i) a->async_put(i, i + 7);
        shoal::wait();
        const std::uint64_t first = size / 3;
        std::vector<std::uint64_t> part(size - first - size / 10);
        a->get(first, std::span(part));
        ASSERT_EQ(part, numbers(part.size(), first + 7));
        std::ranges::fill(part, 9);
        a->async_put(first, std::span<const std::uint64_t>(part));
        shoal::wait();
        a->async_get(0, std::span(got));
        shoal::wait();
        for (std::uint64_t i = 0; i < size; ++i)
          ASSERT_EQ(got[i], i >= first && i < first + part.size() ? 9 : i + 7) << i;
        a->fill(3);
        a->get(0, std::span(got));
        ASSERT_TRUE(std::ranges::all_of(got, [](std::uint64_t v) { return v == 3; }));
      }
  });
}

// Spans that begin and end within runs and rounds, of elements that are units of copying and that are not.
template <class T>
void check_spans(const distribution_plan& plan) {
  constexpr std::uint64_t k_size = 20'000;
  global_array<T> a(k_size, plan);
  std::vector<T> mirror(k_size, T{});
  unsigned char next = 0;
  for (const std::uint64_t first : {0, 1, 13, 4097})
    for (const std::uint64_t count : {1, 63, 1000, 15'903}) {
      std::vector<T> values(count);
      for (T& v : values) std::memset(static_cast<void*>(&v), ++next, sizeof v);
      std::copy(values.begin(), values.end(), mirror.begin() + static_cast<std::ptrdiff_t>(first));
      a->put(first, std::span<const T>(values));
      std::memset(static_cast<void*>(values.data()), 0, count * sizeof(T));
      a->get(first, std::span(values));
      ASSERT_EQ(std::memcmp(values.data(), mirror.data() + first, count * sizeof(T)), 0) << first << " " << count;
      std::vector<T> all(k_size);
      a->get(0, std::span(all));
      ASSERT_EQ(std::memcmp(all.data(), mirror.data(), k_size * sizeof(T)), 0) << first << " " << count;
    }
}

struct triple {
  std::uint64_t words[3];
};

TEST_P(distributions, spans_of_cyclic_arrays_begin_and_end_anywhere) {
  run([] {
    for (const auto& plan : {distribution_plan(distribution::cyclic), shoal::cyclic_from(shoal::node_count() - 1),
                             shoal::block_cyclic(7, shoal::node_count() - 1), shoal::block_cyclic(100)}) {
      check_spans<char>(plan);
      check_spans<std::uint16_t>(plan);
      check_spans<float>(plan);
      check_spans<std::uint64_t>(plan);
      check_spans<triple>(plan);
    }
  });
}

TEST_P(distributions, owners_and_local_parts_agree) {
  run([] {
    for (const auto& plan : all_plans(3000)) {
      global_array<std::uint64_t> a(3000, plan);
      shoal::parallel_for(shoal::owners_of(a), 17, 2777, [r = a.ref()](std::uint64_t i) {
        r.put(i, i + (r.owner(i) == shoal::node_id() ? 0 : 1'000'000));
      });
      shoal::spmd([r = a.ref()](shoal::team&) {
        const auto part = r.local();
        const auto indices = r.local_range();
        for (std::uint64_t k = 0; k < part.size(); ++k) {
          const std::uint64_t i = indices.index(k);
          EXPECT_EQ(part[k], i >= 17 && i < 2777 ? i : 0);
        }
      });
    }
  });
}

TEST_P(distributions, arrays_are_copied_from_each_to_each) {
  run([] {
    constexpr std::uint64_t k_size = 900;
    for (const auto& from_plan : all_plans(k_size))
      for (const auto& to_plan : all_plans(k_size)) {
        global_array<std::uint64_t> from(k_size, from_plan);
        global_array<std::uint64_t> to(k_size, to_plan);
        from->put(0, std::span<const std::uint64_t>(numbers(k_size, 0)));
        to->copy(5, from, 10, 800);
        std::vector<std::uint64_t> got(k_size);
        to->get(0, std::span(got));
        for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(got[i], i >= 5 && i < 805 ? i + 5 : 0) << i;
      }
    for (const auto& plan : all_plans(k_size))
      for (const std::uint64_t shift : {1, 40, 300}) {
        global_array<std::uint64_t> a(k_size, plan);
        a->put(0, std::span<const std::uint64_t>(numbers(k_size, 0)));
        a->copy(shift, a, 0, k_size - shift);
        std::vector<std::uint64_t> got(k_size);
        a->get(0, std::span(got));
        for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(got[i], i < shift ? i : i - shift) << i;
      }
  });
}

TEST_P(distributions, like_another_puts_elements_with_its_elements) {
  run([] {
    auto plans = all_plans(1000);
    for (const auto d : {distribution::partition, distribution::local, distribution::remote, distribution::cyclic})
      plans.emplace_back(d);
    for (const auto& plan : plans) {
      global_array<std::uint32_t> a(1000, plan);
      global_array<double> b(1000, shoal::like(a));
      global_array<double> c(1000, shoal::like(b.ref()));
      for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(a->owner(i), c->owner(i)) << i;
      EXPECT_THROW(global_array<int>(999, shoal::like(a)), shoal::error);
    }
  });
}

TEST_P(distributions, edges_live_with_their_vertices) {
  run([] {
    constexpr std::uint64_t k_vertices = 500;
    for (const auto& plan : {distribution_plan(distribution::partition), distribution_plan(distribution::remote),
                             distribution_plan(distribution::local), shoal::partition_from(shoal::node_count() - 1),
                             shoal::blocks_at(uneven_bounds(k_vertices))}) {
      global_array<std::uint32_t> vertices(k_vertices, plan);
      global_array<std::uint64_t> offsets(k_vertices + 1);
      std::uint64_t edges = 0;
      for (std::uint64_t v = 0; v <= k_vertices; ++v) {
        offsets->put(v, edges);
        edges += v % 5 * (v < k_vertices);
      }
      global_array<std::uint64_t> targets(edges, shoal::aligned(vertices, offsets));
      for (std::uint64_t v = 0; v < k_vertices; ++v)
        for (std::uint64_t e = offsets->get(v); e < offsets->get(v + 1); ++e)
          ASSERT_EQ(targets->owner(e), vertices->owner(v)) << v;
    }
    global_array<std::uint32_t> cyclic(k_vertices, distribution::cyclic);
    EXPECT_THROW(shoal::aligned(cyclic, numbers(k_vertices + 1, 0)), shoal::error);
  });
}

TEST_P(distributions, blocks_are_on_the_nodes_that_own_them) {
  run([] {
    constexpr std::uint64_t k_block = 64;
    const std::uint64_t size =
        shoal::node_count() > 4 ? 30'007 : 400'007;  // of few nodes: several calls for the owners
    const auto owner = scattered_owner();
    for (int round = 0; round < 2; ++round) {  // the slot and its table are used again
      const global_array<std::uint64_t> a(size, shoal::owned_by(k_block, owner));
      std::vector<std::uint32_t> table;
      for (std::uint64_t b = 0; b * k_block < size; ++b) table.push_back(static_cast<std::uint32_t>(owner(b)));
      const global_array<std::uint64_t> same(size, shoal::owned_by(k_block, table));
      for (std::uint64_t i = 0; i < size; i += 61) {
        ASSERT_EQ(a->owner(i), owner(i / k_block)) << i;
        ASSERT_EQ(same->owner(i), owner(i / k_block)) << i;
      }
      shoal::parallel_for(shoal::parts_of(a), [](std::uint64_t first, std::span<std::uint64_t> part) {
        for (std::size_t k = 0; k < part.size(); ++k) part[k] = first + k;
      });
      const std::uint64_t wrong = shoal::parallel_reduce(
          shoal::owners_of(a), std::uint64_t{100}, size - 5, std::uint64_t{0},
          [r = a.ref()](std::uint64_t i) -> std::uint64_t {
            return r.owner(i) == shoal::node_id() && r.get(i) == i ? 0 : 1;
          },
          std::plus<>());
      EXPECT_EQ(wrong, 0U);
      std::vector<std::uint64_t> got(size);
      a->get(0, std::span(got));
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(got[i], i);
    }
  });
}

TEST_P(distributions, what_does_not_fit_is_refused_and_leaves_nothing_behind) {
  run([] {
    const std::uint32_t nodes = shoal::node_count();
    EXPECT_THROW(global_array<int>(10, shoal::partition_from(nodes)), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::partition_on(0, nodes + 1)), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::owned_by(2, [nodes](std::uint64_t) { return nodes; })), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::owned_by(2, [](std::uint64_t) { return -1; })), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::owned_by(0, scattered_owner())), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::blocks_at({0, 9})), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::block_cyclic(0)), shoal::error);
    EXPECT_THROW(global_array<int>(10, shoal::weighted(std::vector<double>(nodes + 1, 1))), shoal::error);
    for (int round = 0; round < 50; ++round) {  // slots and their boundaries are used again
      global_array<int> a(100, shoal::blocks_at(uneven_bounds(100)));
      a->put(99, round);
      ASSERT_EQ(a->get(99), round);
      ASSERT_EQ(a->get(0), 0);
    }
    global_array<int> none(0, shoal::weighted({1}));
    EXPECT_EQ(none.size(), 0U);
    global_array<int> no_blocks(0, shoal::owned_by(4, scattered_owner()));
    EXPECT_EQ(no_blocks.size(), 0U);
  });
}

}  // namespace
