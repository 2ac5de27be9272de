// SPDX-License-Identifier: Apache-2.0
// Algorithms on global arrays of every distribution, in jobs of all shapes, against those of the standard library.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "shoal/histogram.hpp"
#include "shoal/permute.hpp"
#include "shoal/scan.hpp"
#include "shoal/select.hpp"
#include "shoal/transpose.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::distribution;
using shoal::distribution_plan;
using shoal::global_array;

class algorithms : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(algorithms);
INSTANTIATE_TEST_SUITE_P(many, algorithms, testing::Values(shoal::test::job_shape{16, 1, false}), shoal::test::name_of);

std::vector<distribution_plan> plans() {
  return {distribution::partition, distribution::local,      distribution::remote,
          distribution::cyclic,    shoal::block_cyclic(100), shoal::partition_from(shoal::node_count() - 1)};
}

template <class T>
std::vector<T> contents(const global_array<T>& a) {
  std::vector<T> v(a.size());
  a->get(0, std::span(v));
  return v;
}

/// x -> factor * x + term, modulo 2^64: its composition is associative and does not commute.
struct affine {
  std::uint64_t factor = 1;
  std::uint64_t term = 0;
  bool operator==(const affine&) const = default;
};
struct then {
  affine operator()(const affine& f, const affine& g) const noexcept {
    return {f.factor * g.factor, f.term * g.factor + g.term};
  }
};

TEST_P(algorithms, scans_of_every_distribution) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 70'000})
      for (const auto& plan : plans()) {
        std::vector<affine> given(size);
        for (std::uint64_t i = 0; i < size; ++i) given[i] = {shoal::mix64(i) | 1, i};
        const global_array<affine> a(size, plan);
        a->put(0, std::span<const affine>(given));
        shoal::inclusive_scan(a, then{});
        auto wanted = given;
        std::inclusive_scan(given.begin(), given.end(), wanted.begin(), then{});
        EXPECT_TRUE(contents(a) == wanted) << size << ", distribution " << static_cast<int>(plan.kind);
        a->put(0, std::span<const affine>(given));
        shoal::exclusive_scan(a.ref(), then{});
        std::exclusive_scan(given.begin(), given.end(), wanted.begin(), affine{}, then{});
        EXPECT_TRUE(contents(a) == wanted) << size << ", distribution " << static_cast<int>(plan.kind);
      }
  });
}

TEST_P(algorithms, scans_begin_with_the_identity_that_is_given) {
  run([] {
    const global_array<std::int32_t> a(1000);
    std::vector<std::int32_t> given(a.size());
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = -static_cast<std::int32_t>(shoal::mix64(i) % 1000) - 1;
    a->put(0, std::span<const std::int32_t>(given));
    const auto maximum = [](std::int32_t x, std::int32_t y) { return std::max(x, y); };
    shoal::exclusive_scan(a, maximum, std::int32_t{-5000});
    auto wanted = given;
    std::exclusive_scan(given.begin(), given.end(), wanted.begin(), std::int32_t{-5000}, maximum);
    EXPECT_EQ(contents(a), wanted);
  });
}

template <class T>
void set(const global_array<T>& a, const std::vector<T>& v) {
  a->put(0, std::span<const T>(v));
}

std::vector<std::uint32_t> random_numbers(std::uint64_t size, std::uint64_t below) {
  std::vector<std::uint32_t> v(size);
  for (std::uint64_t i = 0; i < size; ++i) v[i] = static_cast<std::uint32_t>(shoal::mix64(i) % below);
  return v;
}

TEST_P(algorithms, histograms_of_every_distribution) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 40'000})
      for (const std::uint64_t buckets : {1, 7, 5000})
        for (const auto& plan : plans()) {
          const auto given = random_numbers(size, buckets);
          std::vector<std::uint64_t> wanted(buckets);
          for (const std::uint32_t x : given) ++wanted[x];
          const global_array<std::uint32_t> a(size, plan);
          set(a, given);
          EXPECT_EQ(shoal::histogram(a, buckets, [](std::uint32_t x) { return x; }), wanted);
          const global_array<std::uint32_t> counts(buckets, plan);
          counts->fill(9);
          shoal::histogram(a.ref(), counts, [](std::uint32_t x) { return static_cast<int>(x); });
          const auto got = contents(counts);
          EXPECT_TRUE(std::equal(got.begin(), got.end(), wanted.begin(), wanted.end())) << size << ", " << buckets;
        }
    EXPECT_TRUE(shoal::histogram(global_array<int>(), 0, [](int) { return 0; }).empty());
  });
}

/// How many elements equal the one before.
std::uint64_t repeated(const std::vector<std::uint64_t>& v) {
  std::uint64_t n = 0;
  for (std::size_t i = 1; i < v.size(); ++i) n += v[i] == v[i - 1] ? 1 : 0;
  return n;
}

TEST_P(algorithms, unique_leaves_the_first_of_equal_neighbours) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 50'000})
      for (const std::uint64_t different : {1, 2, 9, 30'000})
        for (const auto& plan : plans()) {
          // Equal are those with the same upper part: the lower ones tell which has been left.
          std::vector<std::uint64_t> given(size);
          for (std::uint64_t i = 0; i < size; ++i) given[i] = (i * different / size) << 32 | i;
          const auto equal = [](std::uint64_t x, std::uint64_t y) { return x >> 32 == y >> 32; };
          auto wanted = given;
          wanted.erase(std::unique(wanted.begin(), wanted.end(), equal), wanted.end());
          const global_array<std::uint64_t> a(size, plan);
          set(a, given);
          ASSERT_EQ(shoal::unique(a, equal), wanted.size());
          auto got = contents(a);
          got.resize(wanted.size());
          EXPECT_TRUE(got == wanted) << size << ", " << different << ", " << static_cast<int>(plan.kind);
          const std::uint64_t different_now = size - repeated(contents(a));
          EXPECT_EQ(shoal::unique(a.ref()), different_now);
        }
  });
}

TEST_P(algorithms, partition_keeps_the_order_on_both_sides) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 50'000})
      for (const std::uint32_t limit : {0U, 1U, 300U, 1000U})
        for (const auto& plan : plans()) {
          std::vector<affine> given(size);
          for (std::uint64_t i = 0; i < size; ++i) given[i] = {shoal::mix64(i) % 1000, i};
          const auto chosen = [limit](const affine& x) { return x.factor < limit; };
          auto wanted = given;
          const auto at = std::stable_partition(wanted.begin(), wanted.end(), chosen);
          const global_array<affine> a(size, plan);
          set(a, given);
          EXPECT_EQ(shoal::partition(a, chosen), static_cast<std::uint64_t>(at - wanted.begin()));
          EXPECT_TRUE(contents(a) == wanted) << size << ", " << limit << ", " << static_cast<int>(plan.kind);
        }
  });
}

template <class Index>
void check_permutations(std::uint64_t size) {
  std::vector<Index> places(size);
  std::iota(places.begin(), places.end(), Index{0});
  for (std::uint64_t i = size; i > 1; --i) std::swap(places[i - 1], places[shoal::mix64(i) % i]);
  std::vector<float> given(size);
  std::iota(given.begin(), given.end(), 0.5F);
  std::vector<float> gathered(size);
  std::vector<float> scattered(size);
  for (std::uint64_t k = 0; k < size; ++k) {
    gathered[k] = given[places[k]];
    scattered[places[k]] = given[k];
  }
  for (const auto& plan : plans())
    for (const auto& plan_of_indices : {distribution_plan(distribution::partition), shoal::block_cyclic(64), plan}) {
      const global_array<Index> indices(size, plan_of_indices);
      set(indices, places);
      const global_array<float> source(size, plan);
      set(source, given);
      const global_array<float> target(size, plan);
      shoal::gather_into(target, source.ref(), indices);
      EXPECT_TRUE(contents(target) == gathered) << size << ", distribution " << static_cast<int>(plan.kind);
      shoal::scatter_into(target, source, indices.ref());
      EXPECT_TRUE(contents(target) == scattered) << size << ", distribution " << static_cast<int>(plan.kind);
      shoal::permute(source, indices);
      EXPECT_TRUE(contents(source) == scattered) << size << ", distribution " << static_cast<int>(plan.kind);
    }
}

TEST_P(algorithms, gathers_scatters_and_permutations_by_arrays_of_indices) {
  run([] {
    for (const std::uint64_t size : {0, 1, 3, 9000}) check_permutations<std::uint32_t>(size);
    check_permutations<std::uint64_t>(5000);
    // More indices than the source has elements, and elements that no single command carries.
    const global_array<affine> source(3);
    set(source, {{1, 2}, {3, 4}, {5, 6}});
    const global_array<std::uint32_t> indices(1000);
    set(indices, random_numbers(1000, 3));
    const global_array<affine> target(1000, distribution::cyclic);
    shoal::gather_into(target, source, indices);
    for (std::uint64_t i = 0; i < 1000; i += 111) EXPECT_TRUE(target->get(i) == source->get(indices->get(i)));
  });
}

TEST_P(algorithms, transposition_of_every_shape) {
  run([] {
    struct shape {
      std::uint64_t rows;
      std::uint64_t columns;
    };
    for (const auto [rows, columns] : std::initializer_list<shape>{
             {0, 0}, {0, 5}, {1, 1}, {1, 700}, {700, 1}, {2, 3}, {5, 200}, {200, 5}, {130, 131}, {257, 190}})
      for (const auto& plan : plans()) {
        std::vector<std::uint32_t> given(rows * columns);
        std::iota(given.begin(), given.end(), 1U);
        const global_array<std::uint32_t> source(given.size(), plan);
        const global_array<std::uint32_t> target(given.size(), plan);
        set(source, given);
        shoal::transpose(target, source, rows, columns);
        const auto got = contents(target);
        bool right = true;
        for (std::uint64_t r = 0; r < rows; ++r)
          for (std::uint64_t c = 0; c < columns; ++c) right &= got[c * rows + r] == given[r * columns + c];
        EXPECT_TRUE(right) << rows << " x " << columns << ", distribution " << static_cast<int>(plan.kind);
      }
  });
}

TEST_P(algorithms, sizes_that_do_not_match_are_refused) {
  run([] {
    const global_array<std::uint32_t> a(6);
    const global_array<std::uint32_t> b(6);
    const global_array<std::uint32_t> five(5);
    EXPECT_THROW(shoal::permute(a, five), shoal::error);
    EXPECT_THROW(shoal::gather_into(a, b, five), shoal::error);
    EXPECT_THROW(shoal::scatter_into(a, b, five), shoal::error);
    EXPECT_THROW(shoal::transpose(a, five, 2, 3), shoal::error);
    EXPECT_THROW(shoal::transpose(five, a, 2, 3), shoal::error);
    EXPECT_THROW(shoal::transpose(a, b, 0, 6), shoal::error);
    EXPECT_THROW(shoal::transpose(a, b, std::uint64_t{1} << 63, 2), shoal::error);
  });
}

}  // namespace
