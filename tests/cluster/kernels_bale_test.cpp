// SPDX-License-Identifier: Apache-2.0
// The kernels of bale's set in jobs of all shapes: both forms against sequential programs, and their checks against wrong
// results.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/gather/gather.hpp"
#include "kernels/histogram/histogram.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/randperm/randperm.hpp"
#include "kernels/reference/permutation.hpp"
#include "kernels/toposort/toposort.hpp"
#include "kernels/transpose/transpose.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using namespace shoal::kernels;
using shoal::array_ref;
using shoal::global_array;

class bale : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(bale);
INSTANTIATE_TEST_SUITE_P(many, bale, testing::Values(shoal::test::job_shape{16, 1, false}), shoal::test::name_of);

using entries = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

template <class T>
std::vector<T> all_of(const array_ref<T>& a) {
  std::vector<T> values(a.size());
  if (!values.empty()) a.get(0, std::span(values));
  return values;
}

/// All entries of a matrix, in ascending order.
entries entries_of(const random_matrix::matrix_ref& a) {
  entries all;
  std::vector<std::uint32_t> room;
  for (std::uint64_t r = 0; r < a.vertices(); ++r)
    for (const std::uint32_t c : a.row(r, room)) all.emplace_back(r, c);
  std::ranges::sort(all);
  return all;
}
entries entries_of(const matrices::plain_rows& a) {
  entries all;
  const auto begins = all_of(a.begins.ref());
  const auto columns = all_of(a.columns.ref());
  for (std::uint64_t r = 0; r < a.rows(); ++r)
    for (std::uint64_t k = begins.at(r); k < begins.at(r + 1); ++k) all.emplace_back(r, columns.at(k));
  std::ranges::sort(all);
  return all;
}

random_matrix::matrix some_matrix(std::uint64_t rows) {
  return random_matrix::make(random_matrix::uniform{rows, 4 * rows, 7});
}

TEST_P(bale, histogram_and_gather) {
  run([] {
    constexpr std::uint64_t k_table = 1000;
    constexpr std::uint64_t k_count = 5000;
    const global_array<std::uint64_t> table(k_table);
    const global_array<std::uint64_t> indices(k_count);
    const global_array<std::uint64_t> values(k_count);
    random_indices::fill(indices, k_table, 3);
    std::vector<std::uint64_t> wanted(k_table);
    for (const std::uint64_t i : all_of(indices.ref())) ++wanted.at(i);
    for (const auto form : {histogram::simple, histogram::fast}) {
      table->fill(0);
      form(table, indices);
      EXPECT_EQ(all_of(table.ref()), wanted);
      EXPECT_TRUE(histogram::is_right(table, k_count, 3));
      table->add(5, 1);
      EXPECT_FALSE(histogram::is_right(table, k_count, 3));
    }
    gather::fill_table(table);
    for (const auto form : {gather::simple, gather::fast}) {
      values->fill(0);
      EXPECT_EQ(gather::count_wrong(values, k_table, 3), k_count);
      form(table, indices, values);
      EXPECT_EQ(gather::count_wrong(values, k_table, 3), 0U);
      EXPECT_EQ(values->get(17), table->get(indices->get(17)));
      values->add(k_count - 1, 1);
      EXPECT_EQ(gather::count_wrong(values, k_table, 3), 1U);
    }
  });
}

TEST_P(bale, randperm) {
  run([] {
    for (const std::uint64_t n : {1, 2, 100, 70'000}) {
      const global_array<std::uint64_t> result(n);
      randperm::fast(result, 5);
      EXPECT_TRUE(reference::is_permutation(result.ref())) << n;
      if (n > 100) {
        EXPECT_FALSE(std::ranges::is_sorted(all_of(result.ref())));
      }
      if (n <= 100) {
        result->fill(0);
        randperm::simple(result, 5);
        EXPECT_TRUE(reference::is_permutation(result.ref())) << n;
      }
      result->put(n - 1, n);
      EXPECT_FALSE(reference::is_permutation(result.ref())) << n;
      if (n == 1) continue;
      result->put(n - 1, result->get(0));
      EXPECT_FALSE(reference::is_permutation(result.ref())) << n;
    }
  });
}

// What one node makes, all make: the first and the sum of position times number of a permutation that has two buckets.
TEST_P(bale, fast_randperm_depends_on_the_seed_alone) {
  std::uint64_t sum = 0;
  const auto weigh = [&sum](const std::vector<std::uint64_t>& numbers) {
    sum = 0;
    for (std::uint64_t i = 0; i < numbers.size(); ++i) sum += shoal::mix64(i) * numbers[i];
  };
  run([&] {
    const global_array<std::uint64_t> result(70'000);
    randperm::fast(result, 11);
    weigh(all_of(result.ref()));
  });
  static const std::uint64_t k_first = sum;  // of the first job
  EXPECT_EQ(sum, k_first);
}

TEST_P(bale, randperm_makes_all_orders_about_equally_often) {
  if (nodes() > 1) return;  // the result does not depend on the number of nodes
  run([] {
    constexpr int k_runs = 600;
    const global_array<std::uint64_t> result(3);
    std::map<std::vector<std::uint64_t>, int> times;
    for (int i = 0; i < k_runs; ++i) {
      randperm::fast(result, static_cast<std::uint64_t>(i));
      ++times[all_of(result.ref())];
    }
    EXPECT_EQ(times.size(), 6U);
    for (const auto& [order, count] : times) EXPECT_NEAR(count, k_runs / 6, 50);  // more than 5 standard deviations
  });
}

TEST_P(bale, permute) {
  run([] {
    for (const std::uint64_t n : {1, 10, 500}) {
      const auto a = some_matrix(n);
      const auto rows = random_matrix::labels(n, 1);
      const auto columns = random_matrix::labels(n, 2);
      entries wanted = entries_of(a.ref());
      const auto row_of = all_of(rows.ref());
      const auto column_of = all_of(columns.ref());
      for (auto& [r, c] : wanted) r = row_of[r], c = column_of[c];
      std::ranges::sort(wanted);
      const auto fast = permute::fast(a, rows, columns);
      EXPECT_EQ(entries_of(fast.ref()), wanted) << n;
      const auto simple = permute::simple(a, rows, columns);
      EXPECT_EQ(entries_of(simple), wanted) << n;
      const std::uint64_t sum = permute::checksum_of(a, rows, columns);
      EXPECT_EQ(matrices::checksum(fast.ref()), sum);
      EXPECT_EQ(matrices::checksum(simple), sum);
      if (n == 1) continue;
      EXPECT_NE(matrices::checksum(a.ref()), sum);
      simple.columns->put(0, (simple.columns->get(0) + 1) % static_cast<std::uint32_t>(n));
      EXPECT_NE(matrices::checksum(simple), sum);
    }
  });
}

TEST_P(bale, transpose) {
  run([] {
    for (const std::uint64_t n : {1, 10, 500}) {
      const auto a = some_matrix(n);
      const entries as_it_was = entries_of(a.ref());
      entries wanted = as_it_was;
      for (auto& [r, c] : wanted) std::swap(r, c);
      std::ranges::sort(wanted);
      const auto fast = transpose::fast(a);
      EXPECT_EQ(entries_of(fast.ref()), wanted) << n;
      EXPECT_EQ(entries_of(transpose::fast(fast).ref()), as_it_was) << n;
      const auto simple = transpose::simple(a);
      EXPECT_EQ(entries_of(simple), wanted) << n;
      const std::uint64_t sum = transpose::checksum_of(a);
      EXPECT_EQ(matrices::checksum(fast.ref()), sum);
      EXPECT_EQ(matrices::checksum(simple), sum);
      simple.begins->put(n, simple.begins->get(n) + 1);
      EXPECT_NE(matrices::checksum(simple), sum);
    }
  });
}

TEST_P(bale, toposort) {
  run([] {
    for (const std::uint64_t n : {1, 10, 1000}) {
      const auto upper = random_matrix::make(random_matrix::upper_triangular{n, 5 * n, 3});
      for (const auto& [r, c] : entries_of(upper.ref())) ASSERT_LE(r, c);
      const auto a = permute::fast(upper, random_matrix::labels(n, 1), random_matrix::labels(n, 2));
      const auto t = transpose::fast(a);
      const global_array<std::uint32_t> rows(n);
      const global_array<std::uint32_t> columns(n);
      for (const auto form : {toposort::simple, toposort::fast}) {
        rows->fill(0);
        columns->fill(0);
        EXPECT_EQ(form(a, t, rows, columns), n);
        EXPECT_TRUE(toposort::is_right(a, rows, columns)) << n;
        if (n < 1000) continue;
        const std::uint32_t first = rows->get(0);
        rows->put(0, rows->get(1));
        EXPECT_FALSE(toposort::is_right(a, rows, columns)) << "a number is missing";
        rows->put(1, first);
        EXPECT_FALSE(toposort::is_right(a, rows, columns)) << "two rows have each other's number";
      }
    }
  });
}

TEST_P(bale, toposort_of_what_is_no_triangle_ends) {
  run([] {
    const std::vector<shoal::graph::edge> cycle{{0, 0}, {1, 1}, {1, 2}, {2, 1}, {2, 2}};
    shoal::graph_options o;
    o.way = shoal::graph::direction::forward;
    o.drop_self_loops = false;
    const auto a = random_matrix::matrix::build(3, cycle, o);
    const auto t = transpose::fast(a);
    const global_array<std::uint32_t> rows(3);
    const global_array<std::uint32_t> columns(3);
    for (const auto form : {toposort::simple, toposort::fast}) {
      EXPECT_EQ(form(a, t, rows, columns), 1U);
      EXPECT_FALSE(toposort::is_right(a, rows, columns));
    }
  });
}

}  // namespace
