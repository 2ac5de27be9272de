// SPDX-License-Identifier: Apache-2.0
// Algorithms on global arrays of every distribution, in jobs of all shapes, against those of the standard library.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "shoal/scan.hpp"
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

}  // namespace
