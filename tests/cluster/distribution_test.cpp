// SPDX-License-Identifier: Apache-2.0
#include "shoal/distribution.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "shoal/global_matrix.hpp"
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
    const auto plans = all_plans(k_size);
    for (std::size_t f = 0; f < plans.size(); ++f)
      for (std::size_t t = 0; t < plans.size(); ++t) {
        if (f != t && (f + t + shoal::node_count()) % 2 != 0) continue;  // each pair on some numbers of nodes
        global_array<std::uint64_t> from(k_size, plans[f]);
        global_array<std::uint64_t> to(k_size, plans[t]);
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

std::vector<shoal::matrix_plan> matrix_plans() {
  const std::uint32_t n = shoal::node_count();
  return {shoal::row_blocks(),      shoal::grid_blocks(),        shoal::grid_blocks(1, n),
          shoal::grid_cyclic(2, 3), shoal::grid_cyclic(5, 1, n), shoal::grid_cyclic(100, 4, 0, n > 1 ? 2 : 1)};
}

struct matrix_shape {
  std::uint64_t rows;
  std::uint64_t columns;
};
constexpr matrix_shape k_matrix_shapes[] = {{0, 0}, {0, 3}, {1, 1}, {1, 50}, {3, 2}, {37, 23}};

TEST_P(distributions, matrices_elements_and_blocks) {
  run([] {
    for (const auto& plan : matrix_plans())
      for (const auto [rows, columns] : k_matrix_shapes) {
        SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", grid " << plan.down << " x " << plan.across
                                        << ", blocks " << plan.block_rows << " x " << plan.block_columns);
        const shoal::global_matrix<std::uint32_t> m(rows, columns, plan);
        EXPECT_EQ(m->rows(), rows);
        EXPECT_EQ(m->columns(), columns);
        const auto value = [](std::uint64_t r, std::uint64_t c) {
          return static_cast<std::uint32_t>(1000 * r + c + 1);
        };
        for (std::uint64_t r = 0; r < rows; ++r)
          for (std::uint64_t c = 0; c < columns; ++c) m->async_put(r, c, value(r, c));
        shoal::wait();
        constexpr std::uint64_t k_leading = 60;
        std::vector<std::uint32_t> got(k_leading * 40);
        m->get_block(0, 0, rows, columns, got.data(), k_leading);
        for (std::uint64_t r = 0; r < rows; ++r)
          for (std::uint64_t c = 0; c < columns; ++c) ASSERT_EQ(got[r * k_leading + c], value(r, c)) << r << ", " << c;
        if (rows < 3 || columns < 2) continue;
        EXPECT_EQ(m->get(rows - 1, columns - 1), value(rows - 1, columns - 1));
        m->add(2, 1, 5);
        EXPECT_EQ(m->get(2, 1), value(2, 1) + 5);
        EXPECT_EQ(m->array().fetch_add(m->index(2, 1), 1), value(2, 1) + 5);
        // A block inside, put and read back; what is around it stays.
        std::vector<std::uint32_t> block((rows - 1) * columns, 7);
        m->async_put_block(1, 1, rows - 1, columns - 1, block.data(), columns);
        std::fill(block.begin(), block.end(), 8U);  // the values were copied
        shoal::wait();
        std::uint32_t one = 0;
        m->async_get(1, 1, &one);
        m->async_get_block(0, 0, rows, columns, got.data(), k_leading);
        shoal::wait();
        EXPECT_EQ(one, 7U);
        for (std::uint64_t r = 0; r < rows; ++r)
          for (std::uint64_t c = 0; c < columns; ++c)
            ASSERT_EQ(got[r * k_leading + c], r > 0 && c > 0 ? 7 : value(r, c)) << r << ", " << c;
        std::vector<std::uint32_t> row(columns, 3);
        m->put_row(rows - 1, row);
        m->get_row(0, row);
        EXPECT_EQ(row[1], value(0, 1));
        m->get_row(rows - 1, row);
        EXPECT_EQ(row, std::vector<std::uint32_t>(columns, 3));
      }
  });
}

TEST_P(distributions, loops_over_the_blocks_of_matrices) {
  run([] {
    for (const auto& plan : matrix_plans())
      for (const auto [rows, columns] : k_matrix_shapes) {
        const shoal::global_matrix<std::uint32_t> m(rows, columns, plan);
        shoal::parallel_for(shoal::blocks_of(m), [m = m.ref()](const shoal::matrix_block<std::uint32_t>& b) {
          for (std::uint64_t i = 0; i < b.rows; ++i)
            for (std::uint64_t j = 0; j < b.columns; ++j) {
              EXPECT_EQ(m.owner(b.row + i, b.column + j), shoal::node_id());
              b(i, j) += static_cast<std::uint32_t>(1000 * (b.row + i) + b.column + j + 1);
            }
        });
        for (std::uint64_t r = 0; r < rows; ++r)
          for (std::uint64_t c = 0; c < columns; ++c) ASSERT_EQ(m->get(r, c), 1000 * r + c + 1);
      }
  });
}

TEST_P(distributions, matrices_lie_as_scalapack_says) {
  if (nodes() != 1 && nodes() != 4 && nodes() != 16) GTEST_SKIP() << "three of the shapes are enough";
  run([] {
    const std::uint32_t down = shoal::node_count() == 1 ? 1 : 2;
    const std::uint32_t across = shoal::node_count() / down;
    constexpr std::uint64_t k_rows = 37, k_columns = 61, k_mb = 3, k_nb = 5;
    const shoal::global_matrix<double> m(k_rows, k_columns, shoal::grid_cyclic(k_mb, k_nb, down, across));
    // INDXG2P and INDXG2L of ScaLAPACK, from 0 on.
    const auto process = [](std::uint64_t i, std::uint64_t block, std::uint64_t of) { return i / block % of; };
    const auto local = [](std::uint64_t i, std::uint64_t block, std::uint64_t of) {
      return block * (i / (block * of)) + i % block;
    };
    for (std::uint64_t r = 0; r < k_rows; ++r)
      for (std::uint64_t c = 0; c < k_columns; ++c) {
        const std::uint64_t node = process(r, k_mb, down) * across + process(c, k_nb, across);
        ASSERT_EQ(m->owner(r, c), node);
        const std::uint64_t in_node = m->index(r, c) - node * m->layout().per_node;
        ASSERT_EQ(in_node, local(r, k_mb, down) * m->layout().leading + local(c, k_nb, across));
      }
  });
}

TEST_P(distributions, matrices_that_do_not_fit_are_refused) {
  run([] {
    const std::uint32_t n = shoal::node_count();
    const auto refused = [](std::uint64_t rows, std::uint64_t columns, const shoal::matrix_plan& plan) {
      try {
        const shoal::global_matrix<double> m(rows, columns, plan);
      } catch (const shoal::error& e) {
        return e.code();
      }
      return shoal::errc::internal;
    };
    EXPECT_EQ(refused(10, 10, shoal::grid_blocks(n, 2)), shoal::errc::invalid_argument);
    EXPECT_EQ(refused(10, 10, shoal::grid_blocks(n + 1)), shoal::errc::invalid_argument);
    EXPECT_EQ(refused(std::uint64_t{1} << 40, std::uint64_t{1} << 40, shoal::row_blocks()), shoal::errc::out_of_memory);
  });
}

}  // namespace
