// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/array_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "unit/rounds.hpp"

namespace shoal::detail {
namespace {

constexpr distribution k_kinds[] = {distribution::partition, distribution::local, distribution::remote,
                                    distribution::cyclic};

template <class Look>
void for_all_shapes(Look&& look) {
  for (const distribution kind : k_kinds)
    for (const std::uint32_t nodes : {1U, 2U, 3U, 5U, 8U})
      for (std::uint32_t here = 0; here < nodes; ++here)
        for (const std::uint64_t size : {1U, 2U, 3U, 7U, 8U, 64U, 101U, 1000U})
          for (const std::uint32_t element_bytes : {1U, 8U, 24U}) {
            auto layout = array_layout::make(kind, size, element_bytes, here, nodes);
            layout.offset = 4096;
            SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << " nodes " << nodes << " here "
                                            << here << " size " << size << " bytes " << element_bytes);
            look(layout, here, nodes);
            if (testing::Test::HasFatalFailure()) return;
          }
}

TEST(array_layout, each_index_has_one_place_of_its_own_inside_its_owners_part) {
  for_all_shapes([](const array_layout& l, std::uint32_t, std::uint32_t nodes) {
    std::set<std::pair<std::uint32_t, std::uint64_t>> places;
    for (std::uint64_t i = 0; i < l.size; ++i) {
      const auto at = l.locate(i);
      ASSERT_LT(at.node, nodes);
      ASSERT_TRUE(l.holds_part(at.node));
      ASSERT_GE(at.offset, l.offset);
      ASSERT_EQ((at.offset - l.offset) % l.element_bytes, 0U);
      ASSERT_LT((at.offset - l.offset) / l.element_bytes, l.most_local());
      ASSERT_TRUE(places.emplace(at.node, at.offset).second) << i;
    }
  });
}

TEST(array_layout, local_ranges_agree_with_places) {
  for_all_shapes([](const array_layout& l, std::uint32_t, std::uint32_t nodes) {
    std::vector<int> seen(l.size);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const auto range = l.local_range(n);
      if (!l.holds_part(n)) {
        ASSERT_EQ(range.count, 0U);
      }
      for (std::uint64_t k = 0; k < range.count; ++k) {
        const std::uint64_t i = range.first + k * range.stride;
        ASSERT_LT(i, l.size);
        ++seen[i];
        const auto at = l.locate(i);
        ASSERT_EQ(at.node, n);
        ASSERT_EQ(at.offset, l.offset + k * l.element_bytes);  // the local part is contiguous
      }
    }
    for (const int times : seen) ASSERT_EQ(times, 1);
  });
}

TEST(array_layout, distributions_are_what_they_are_called) {
  for_all_shapes([](const array_layout& l, std::uint32_t here, std::uint32_t nodes) {
    for (std::uint64_t i = 0; i < l.size; ++i) {
      const std::uint32_t owner = l.locate(i).node;
      if (l.kind == distribution::local) {
        ASSERT_EQ(owner, here);
      }
      if (l.kind == distribution::remote) {
        ASSERT_NE(owner, here);
      }
      if (l.kind == distribution::cyclic) {
        ASSERT_EQ(owner, i % nodes);
      }
      if (l.kind == distribution::partition && i > 0) {
        ASSERT_GE(owner, l.locate(i - 1).node);
      }
    }
  });
  // With nobody else there, what should be elsewhere is here.
  EXPECT_EQ(array_layout::make(distribution::remote, 10, 8, 0, 1).kind, distribution::local);
}

TEST(array_layout, large_sizes_do_not_overflow) {
  constexpr std::uint64_t k_size = std::uint64_t{1} << 40;
  for (const distribution kind : k_kinds) {
    const auto l = array_layout::make(kind, k_size, 8, 1, 7);
    const auto last = l.locate(k_size - 1);
    EXPECT_LT(last.node, 7U);
    EXPECT_LT(last.offset / 8, l.most_local());
    std::uint64_t all = 0;
    for (std::uint32_t n = 0; n < 7; ++n) all += l.local_range(n).count;
    EXPECT_EQ(all, k_size);
  }
}

// Compares a layout with a list of owners, one per index; the local part of a node has its indices in ascending order.
void expect_layout(const array_layout& l, const std::vector<std::uint32_t>& owners, std::uint32_t nodes) {
  std::vector<std::vector<std::uint64_t>> parts(nodes);
  for (std::uint64_t i = 0; i < owners.size(); ++i) {
    const auto at = l.locate(i);
    ASSERT_EQ(at.node, owners[i]) << i;
    ASSERT_EQ(at.offset, l.offset + parts[at.node].size() * l.element_bytes) << i;
    parts[at.node].push_back(i);
  }
  std::uint64_t most = 0;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const auto r = l.local_range(n);
    ASSERT_EQ(r.count, parts[n].size()) << n;
    most = std::max(most, r.count);
    if (r.count > 0) {
      ASSERT_TRUE(l.holds_part(n));
    }
    std::uint64_t below = 0;
    for (std::uint64_t k = 0; k < r.count; ++k) ASSERT_EQ(r.index(k), parts[n][k]) << n << " " << k;
    for (std::uint64_t i = 0; i <= owners.size(); ++i) {
      ASSERT_EQ(r.below(i), below) << n << " " << i;
      if (nodes > 16 && i % 7 != 0 && below == r.count) break;
      if (i < owners.size() && owners[i] == n) ++below;
    }
  }
  ASSERT_EQ(l.most_local(), most);
  for (std::uint64_t i = 0; i < owners.size(); ++i) {
    std::uint64_t run = 1;
    while (i + run < owners.size() && owners[i + run] == owners[i]) ++run;
    ASSERT_LE(l.run_at(i), run) << i;
    ASSERT_GE(l.run_at(i), 1U);
    if (l.kind != distribution::block_cyclic) {
      ASSERT_EQ(l.run_at(i), run) << i;
    }
  }
}

// With the thread sanitizer, which has nothing to see in what one thread computes, neither the large numbers of nodes
// nor the large sizes.
constexpr std::uint32_t k_all_node_counts[] = {1, 2, 3, 7, 16, 100, 1023, 1024};
constexpr auto k_node_counts = std::span(k_all_node_counts).first(rounds(8U, 5U));
constexpr std::uint64_t k_all_sizes[] = {1, 2, 15, 16, 17, 255, 1023, 1024, 1025, 1536, 2047, 2048, 3000};
constexpr auto k_sizes = std::span(k_all_sizes).first(rounds(13U, 7U));

TEST(array_layout, blocks_differ_by_one_element_and_the_first_are_the_longer_ones) {
  for (const std::uint32_t nodes : k_node_counts)
    for (const std::uint64_t size : k_sizes)
      for (const std::uint32_t start : {0U, 1U, nodes / 2, nodes - 1}) {
        if (start >= nodes) continue;
        std::vector<std::uint32_t> owners;
        for (std::uint32_t part = 0; part < nodes; ++part)
          owners.insert(owners.end(), size / nodes + (part < size % nodes ? 1 : 0), (start + part) % nodes);
        auto l = array_layout::make(distribution::partition, size, 8, 0, nodes, start);
        l.offset = 4096;
        SCOPED_TRACE(testing::Message() << nodes << " nodes, from " << start << ", size " << size);
        expect_layout(l, owners, nodes);
        if (HasFatalFailure()) return;
      }
}

TEST(array_layout, cyclic_blocks_are_dealt_to_the_nodes) {
  for (const std::uint32_t nodes : k_node_counts)
    for (const std::uint64_t size : k_sizes)
      for (const std::uint64_t block : {1, 2, 3, 64, 4000})
        for (const std::uint32_t start : {0U, nodes - 1}) {
          std::vector<std::uint32_t> owners;
          for (std::uint64_t i = 0; i < size; ++i)
            owners.push_back(static_cast<std::uint32_t>((start + i / block) % nodes));
          const auto l = array_layout::make(distribution::block_cyclic, size, 4, 0, nodes, start, block);
          SCOPED_TRACE(testing::Message() << nodes << " nodes, size " << size << ", block " << block);
          expect_layout(l, owners, nodes);
          if (block == 1)
            expect_layout(array_layout::make(distribution::cyclic, size, 4, 0, nodes, start), owners, nodes);
          if (HasFatalFailure()) return;
        }
}

TEST(array_layout, blocks_of_one_element_less_leave_no_node_empty) {
  const auto l = array_layout::make(distribution::partition, 1536, 8, 0, 1024);
  for (std::uint32_t n = 0; n < 1024; ++n) EXPECT_EQ(l.local_range(n).count, n < 512 ? 2U : 1U);
}

}  // namespace
}  // namespace shoal::detail
