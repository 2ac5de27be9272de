// SPDX-License-Identifier: Apache-2.0
#include "sched/segment_index.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "sched/dependence_table.hpp"
#include "shoal/random.hpp"

namespace shoal::sched {
namespace {

enum class order { ascending, descending, random };

void compare_with_a_map(segment_index& index, order how, std::size_t count) {
  std::map<std::uintptr_t, segment*> reference;
  std::deque<segment> segments;
  xoshiro256ss random(count);
  const auto compare = [&](std::uintptr_t address) {
    const auto after = reference.upper_bound(address);
    const auto place = index.around(address);
    ASSERT_EQ(place.after(), after == reference.end() ? nullptr : after->second) << address;
    ASSERT_EQ(place.at_or_before(), after == reference.begin() ? nullptr : std::prev(after)->second) << address;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uintptr_t begin = how == order::ascending    ? 100 + 2 * i
                                 : how == order::descending ? 100 + 2 * (count - i)
                                                            : 100 + random.below(20 * count);
    if (reference.contains(begin)) continue;
    segments.emplace_back();
    segments.back().begin = begin;
    index.insert(index.around(begin), begin, segments.back());
    reference[begin] = &segments.back();
    compare(begin);
    compare(random.below(22 * count));
  }
  compare(0);
  compare(std::uintptr_t{1} << 60);
  std::vector<segment*> in_order;
  index.for_each([&](segment& s) { in_order.push_back(&s); });
  ASSERT_EQ(in_order.size(), reference.size());
  std::size_t i = 0;
  for (const auto& [begin, s] : reference) ASSERT_EQ(in_order[i++], s) << begin;
}

TEST(segment_index, finds_neighbours_as_a_map_does) {
  segment_index index;
  for (const order how : {order::ascending, order::descending, order::random})
    for (const std::size_t count : {1U, 31U, 32U, 33U, 1000U, 40'000U}) {
      index.clear();
      EXPECT_EQ(index.around(5).at_or_before(), nullptr);
      EXPECT_EQ(index.around(5).after(), nullptr);
      compare_with_a_map(index, how, count);
    }
}

}  // namespace
}  // namespace shoal::sched
