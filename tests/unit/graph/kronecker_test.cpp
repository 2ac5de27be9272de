// SPDX-License-Identifier: Apache-2.0
#include "shoal/graph/kronecker.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "input.hpp"
#include "shoal/random.hpp"

namespace shoal::graph {
namespace {

using namespace test;

TEST(VertexPermutation, IsABijectionAtEveryScale) {
  for (int bits = 0; bits <= 16; ++bits) {
    for (const std::uint64_t seed : {0u, 1u, 12345u}) {
      const vertex_permutation permute(bits, seed);
      const std::uint64_t size = std::uint64_t{1} << bits;
      std::vector<bool> seen(size);
      for (std::uint64_t x = 0; x < size; ++x) {
        const std::uint64_t y = permute(x);
        ASSERT_LT(y, size);
        EXPECT_FALSE(seen[y]) << bits << " " << x;
        seen[y] = true;
      }
    }
  }
}

TEST(VertexPermutation, OneBitInChangesAboutHalfOfTheBitsOut) {
  constexpr int bits = 20;
  const vertex_permutation permute(bits, 7);
  for (int flip = 0; flip < bits; ++flip) {
    int changed = 0;
    constexpr int tries = 2000;
    for (int i = 0; i < tries; ++i) {
      const std::uint64_t x = mix64(static_cast<std::uint64_t>(i)) & ((1u << bits) - 1);
      changed += std::popcount(permute(x) ^ permute(x ^ (std::uint64_t{1} << flip)));
    }
    const double share = static_cast<double>(changed) / (tries * bits);
    EXPECT_NEAR(share, 0.5, 0.1) << flip;
  }
}

template <class Generator>
void same_however_divided(const Generator& generator) {
  const edges whole = generate_all(generator).list;
  for (const std::uint64_t parts : {2u, 3u, 7u, 64u}) {
    edges joined(whole.size());
    for (std::uint64_t p = 0; p < parts; ++p) {
      const std::uint64_t first = whole.size() * p / parts;
      const std::uint64_t last = whole.size() * (p + 1) / parts;
      generator.generate(first, std::span{joined}.subspan(first, last - first));
    }
    EXPECT_EQ(joined, whole) << parts;
  }
}

TEST(Kronecker, TheSameHoweverDivided) {
  same_however_divided(kronecker(10, 16, 1));
  same_however_divided(uniform(1000, 5000, 1));
}

TEST(Kronecker, SeedAndSizesDecide) {
  const kronecker one(12, 16, 1);
  EXPECT_EQ(one.vertices(), 4096u);
  EXPECT_EQ(one.edges(), 65536u);
  EXPECT_EQ(generate_all(one).list, generate_all(kronecker(12, 16, 1)).list);
  EXPECT_NE(generate_all(one).list, generate_all(kronecker(12, 16, 2)).list);
}

/// Written down once: a change of the generator changes every published figure and must be meant.
TEST(Kronecker, StaysWhatItWas) {
  std::uint64_t sum = 0;
  for (const edge& e : generate_all(kronecker(14, 16, 1)).list) sum = mix64(sum ^ e.from) + mix64(e.to);
  EXPECT_EQ(sum, 7985996430244505004u);
  sum = 0;
  for (const edge& e : generate_all(uniform(10'007, 100'000, 1)).list) sum = mix64(sum ^ e.from) + mix64(e.to);
  EXPECT_EQ(sum, 654849736119444796u);
}

/// Quadrants of the first level, seen through scale 1 where the permutation at most exchanges 0 and 1.
TEST(Kronecker, QuadrantsHaveTheirShares) {
  double count[2][2] = {};
  constexpr int seeds = 20;
  std::uint64_t edges_seen = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const kronecker g(1, 16383, seed);
    double here[2][2] = {};
    for (std::uint64_t i = 0; i < g.edges(); ++i) ++here[g.at(i).from][g.at(i).to];
    edges_seen += g.edges();
    const int a = here[0][0] > here[1][1] ? 0 : 1;  // 0.57 against 0.05
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) count[i][j] += here[i ^ a][j ^ a];
    }
  }
  const double total = static_cast<double>(edges_seen);
  EXPECT_NEAR(count[0][0] / total, 0.57, 0.005);
  EXPECT_NEAR(count[0][1] / total, 0.19, 0.005);
  EXPECT_NEAR(count[1][0] / total, 0.19, 0.005);
  EXPECT_NEAR(count[1][1] / total, 0.05, 0.005);
}

TEST(Kronecker, LevelsAreIndependent) {
  // The permutation moves cells but keeps their sizes: the largest holds A times A of the edges, the smallest D times
  // D.
  std::vector<double> cell(16);
  const kronecker g(2, 16383, 11);
  for (std::uint64_t i = 0; i < g.edges(); ++i) ++cell[g.at(i).from * 4 + g.at(i).to];
  std::sort(cell.begin(), cell.end());
  const double total = static_cast<double>(g.edges());
  EXPECT_NEAR(cell[15] / total, 0.57 * 0.57, 0.01);
  EXPECT_NEAR(cell[0] / total, 0.05 * 0.05, 0.005);
}

TEST(Kronecker, SkewedWithoutPatternInTheLabels) {
  const kronecker generator(14, 16, 1);
  std::vector<double> degree(generator.vertices());
  for (const edge& e : generate_all(generator).list) {
    ++degree[e.from];
    ++degree[e.to];
  }
  EXPECT_GT(*std::max_element(degree.begin(), degree.end()), 20 * 32.0);  // the mean degree is 32
  EXPECT_GT(std::count(degree.begin(), degree.end(), 0.0), 1000);
  // Labels that tell nothing: halves by each bit carry nearly the same number of edge ends.
  const double total = std::accumulate(degree.begin(), degree.end(), 0.0);
  for (int bit = 0; bit < 14; ++bit) {
    double set = 0;
    for (std::uint64_t v = 0; v < degree.size(); ++v) set += (v >> bit) & 1 ? degree[v] : 0.0;
    EXPECT_NEAR(set / total, 0.5, 0.06) << bit;
  }
}

TEST(Uniform, DegreesAreThoseOfChance) {
  const uniform generator(1000, 100'000, 9);
  std::vector<double> degree(1000);
  for (const edge& e : generate_all(generator).list) {
    ASSERT_LT(e.from, 1000u);
    ASSERT_LT(e.to, 1000u);
    ++degree[e.from];
    ++degree[e.to];
  }
  double chi = 0;
  for (const double d : degree) chi += (d - 200) * (d - 200) / 200;
  EXPECT_NEAR(chi, 999, 5 * std::sqrt(2 * 999.0));
}

TEST(Kronecker, AbsurdSizes) {
  EXPECT_EQ(refusal([] { kronecker(0, 16, 1); }, errc::invalid_argument),
            "a Kronecker graph of scale 0 is not possible; give 1 to 48");
  EXPECT_THROW(kronecker(-1, 16, 1), error);
  EXPECT_THROW(kronecker(49, 16, 1), error);
  EXPECT_EQ(refusal([] { kronecker(4, 0, 1); }, errc::invalid_argument),
            "an edge factor of 0 is not possible; give 1 to 16383");
  EXPECT_THROW(kronecker(4, 16384, 1), error);
  EXPECT_EQ(refusal([] { uniform(0, 1, 1); }, errc::invalid_argument),
            "a graph of 0 vertices and 1 edges is not possible");
  EXPECT_EQ(kronecker(48, 16383, 1).edges(), 16383 * (std::uint64_t{1} << 48));
  EXPECT_LT(kronecker(48, 16383, 1).at(kronecker(48, 16383, 1).edges() - 1).from, std::uint64_t{1} << 48);
  EXPECT_EQ(uniform(0, 0, 1).edges(), 0u);
}

}  // namespace
}  // namespace shoal::graph
