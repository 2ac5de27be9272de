// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/array_layout.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

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

}  // namespace
}  // namespace shoal::detail
