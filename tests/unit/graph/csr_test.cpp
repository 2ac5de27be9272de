// SPDX-License-Identifier: Apache-2.0
#include "graph/csr.hpp"

#include <map>
#include <set>

#include "input.hpp"
#include "shoal/graph/kronecker.hpp"

namespace shoal::graph {
namespace {

using namespace test;

/// Rows as the definition says, slowly.
std::map<std::uint64_t, std::multiset<std::uint64_t>> naive(const edges& list, std::uint64_t first, std::uint64_t last,
                                                            const csr_options& o) {
  std::map<std::uint64_t, std::multiset<std::uint64_t>> rows;
  const auto arc = [&](std::uint64_t from, std::uint64_t to) {
    if (from < first || from >= last) return;
    auto& row = rows[from];
    if (!o.drop_duplicates || !row.contains(to)) row.insert(to);
  };
  for (const edge& e : list) {
    if (e.from == e.to && o.drop_self_loops) continue;
    if (!o.reverse) arc(e.from, e.to);
    if (o.reverse || (o.symmetrise && e.from != e.to)) arc(e.to, e.from);
  }
  return rows;
}

template <class Target>
void compare(const edges& list, std::uint64_t vertices, std::uint64_t first, std::uint64_t last, const csr_options& o) {
  const auto built = build_csr<Target>(list, vertices, first, last, o);
  auto expected = naive(list, first, last, o);
  ASSERT_EQ(built.offsets.size(), last - first + 1);
  ASSERT_EQ(built.offsets.back(), built.targets.size());
  for (std::uint64_t v = first; v < last; ++v) {
    const auto row = built.neighbours(v);
    EXPECT_EQ(std::multiset<std::uint64_t>(row.begin(), row.end()), expected[v]) << v;
    EXPECT_EQ(built.degree(v), expected[v].size());
    if (o.drop_duplicates) {
      EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
    }
  }
}

TEST(Csr, EveryOptionAndRangeAgreesWithTheDefinition) {
  const edges list = generate_all(kronecker(6, 8, 42)).list;  // many loops and duplicates
  for (int bits = 0; bits < 12; ++bits) {
    const csr_options o{.symmetrise = bits / 4 == 1,
                        .reverse = bits / 4 == 2,
                        .drop_self_loops = (bits & 1) != 0,
                        .drop_duplicates = (bits & 2) != 0};
    for (const auto& [first, last] : {std::pair{0u, 64u}, {0u, 1u}, {17u, 40u}, {40u, 64u}, {63u, 64u}, {5u, 5u}}) {
      compare<std::uint32_t>(list, 64, first, last, o);
      compare<std::uint64_t>(list, 64, first, last, o);
    }
  }
}

TEST(Csr, PiecesInAnyOrderAreTheSame) {
  const edges list = generate_all(kronecker(8, 8, 1)).list;
  const csr_options o{.symmetrise = true, .drop_duplicates = true};
  const auto whole = build_csr<std::uint32_t>(list, 256, 32, 200, o);
  csr_builder<std::uint32_t> builder(256, 32, 200, o);
  const std::span all{list};
  for (std::size_t i = 0; i < list.size(); i += 100)
    builder.count(all.subspan(i, std::min<std::size_t>(100, list.size() - i)));
  builder.fill(all.subspan(1000));
  builder.fill(all.first(1000));
  const auto pieces = builder.finish();
  EXPECT_EQ(pieces.offsets, whole.offsets);
  EXPECT_EQ(pieces.targets, whole.targets);
}

TEST(Csr, EmptyGraphs) {
  EXPECT_EQ(build_csr<std::uint32_t>({}, 0, 0, 0).offsets, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(build_csr<std::uint32_t>({}, 3, 1, 3).offsets, (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(Csr, EdgeOutOfRange) {
  EXPECT_EQ(refusal([] {
              build_csr<std::uint32_t>(edges{{0, 1}, {1, 3}}, 3, 0, 1);
            }),
            "edge 1 - 3 is out of range: there are 3 vertices, from 0");
}

TEST(Csr, NarrowTargetsHoldExactlyWhatFits) {
  const std::uint64_t most = std::uint64_t{1} << 32;
  EXPECT_EQ(build_csr<std::uint32_t>(edges{{0, most - 1}}, most, 0, 1).targets,
            (std::vector<std::uint32_t>{0xffffffff}));
  EXPECT_EQ(refusal([&] { build_csr<std::uint32_t>(edges{}, most + 1, 0, 1); }, errc::invalid_argument),
            "4294967297 vertices do not fit in 32 bits; use wider targets");
}

TEST(Csr, MemoryStaysNearTheResult) {
  const kronecker generator(12, 16, 3);
  const edges list = generate_all(generator).list;
  const csr_options o{.symmetrise = true, .drop_self_loops = true, .drop_duplicates = true};
  const auto built = build_csr<std::uint32_t>(list, generator.vertices(), 0, generator.vertices(), o);
  const std::uint64_t held = built.offsets.capacity() * 8 + built.targets.capacity() * 4;
  EXPECT_LE(static_cast<double>(held), 2.2 * static_cast<double>(built.bytes()));
  const edges same(10'000, edge{0, 1});
  EXPECT_EQ(build_csr<std::uint32_t>(same, 2, 0, 2, o).targets.capacity(), 2u);
}

TEST(CsrDeathTest, OtherEdgesInTheSecondPass) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [](const edges& counted, const edges& filled) {
    csr_builder<std::uint32_t> builder(4, 0, 4, {});
    builder.count(counted);
    builder.fill(filled);
    builder.finish();
  };
  EXPECT_DEATH(twice({{0, 1}}, {}), "the same edges");
  EXPECT_DEATH(twice({{0, 1}}, {{0, 1}, {0, 2}}), "the same edges");
  EXPECT_DEATH(twice({{0, 1}, {1, 2}}, {{0, 1}, {0, 2}}), "the same edges");
}

}  // namespace
}  // namespace shoal::graph
