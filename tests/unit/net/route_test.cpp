// SPDX-License-Identifier: Apache-2.0
#include "net/routes/route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace shoal::net {
namespace {

using link_of_two = std::pair<std::uint32_t, std::uint32_t>;

// Whether blocks that wait for room at their next hop can wait for each other in a circle: an edge leads from the link
// that a block has come by to the one it wants.
class waits_of_links {
public:
  explicit waits_of_links(const route_map& map) {
    for (std::uint32_t from = 0; from < map.nodes(); ++from)
      for (std::uint32_t to = 0; to < map.nodes(); ++to)
        if (from != to) follow(map, from, to);
  }
  unsigned most_hops() const { return most_hops_; }
  std::uint32_t most_next_hops() const {
    std::size_t most = 0;
    for (const auto& [node, hops] : next_hops_) most = std::max(most, hops.size());
    return static_cast<std::uint32_t>(most);
  }
  bool have_cycle() const {
    std::map<link_of_two, int> state;  // 1: on the path, 2: done
    for (const auto& [link, to] : edges_)
      if (visit(link, state)) return true;
    return false;
  }

private:
  void follow(const route_map& map, std::uint32_t from, std::uint32_t to) {
    unsigned hops = 0;
    link_of_two last{};
    for (std::uint32_t at = from; at != to;) {
      const std::uint32_t next = map.next_hop(at, to);
      ASSERT_LT(next, map.nodes());
      ASSERT_NE(next, at);
      next_hops_[at].insert(next);
      const link_of_two link{at, next};
      if (hops != 0) edges_[last].insert(link);
      last = link;
      at = next;
      ASSERT_LE(++hops, map.hops()) << from << " to " << to;
    }
    most_hops_ = std::max(most_hops_, hops);
  }
  bool visit(const link_of_two& link, std::map<link_of_two, int>& state) const {
    int& mine = state[link];
    if (mine != 0) return mine == 1;
    mine = 1;
    if (const auto found = edges_.find(link); found != edges_.end())
      for (const link_of_two& next : found->second)
        if (visit(next, state)) return true;
    state[link] = 2;
    return false;
  }

  std::map<link_of_two, std::set<link_of_two>> edges_;
  std::map<std::uint32_t, std::set<std::uint32_t>> next_hops_;
  unsigned most_hops_ = 0;
};

TEST(route_map, direct_routes_have_one_hop) {
  const route_map map(100, 1);
  EXPECT_EQ(map.next_hop(3, 99), 99U);
  EXPECT_EQ(map.most_next_hops(), 99U);
}

TEST(route_map, a_grid_turns_in_the_own_row) {
  const route_map map(16, 2);
  EXPECT_EQ(map.next_hop(1, 14), 2U);
  EXPECT_EQ(map.next_hop(2, 14), 14U);
  EXPECT_EQ(map.next_hop(1, 3), 3U);
  EXPECT_EQ(map.most_next_hops(), 6U);
}

TEST(route_map, where_the_own_row_is_too_short_the_column_comes_first) {
  const route_map map(14, 2);  // the last row is 12, 13
  EXPECT_EQ(map.next_hop(13, 3), 1U);
  EXPECT_EQ(map.next_hop(1, 3), 3U);
}

TEST(route_map, a_thousand_nodes_have_few_next_hops) {
  EXPECT_EQ(route_map(1024, 2).most_next_hops(), 62U);
  EXPECT_LE(route_map(1024, 3).most_next_hops(), 30U);
  EXPECT_EQ(route_map(4096, 3).most_next_hops(), 45U);
}

TEST(route_map, every_route_ends_and_no_waits_for_room_form_a_cycle) {
  for (std::uint32_t nodes = 1; nodes <= 70; ++nodes)
    for (unsigned hops = 1; hops <= 3; ++hops) {
      const route_map map(nodes, hops);
      const waits_of_links waits(map);
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      EXPECT_FALSE(waits.have_cycle()) << nodes << " nodes, " << hops << " hops";
      EXPECT_LE(waits.most_next_hops(), map.most_next_hops()) << nodes << " nodes, " << hops << " hops";
    }
}

TEST(route_map, machines_with_different_numbers_of_nodes_are_rows) {
  for (const std::vector<std::uint32_t>& rows :
       {std::vector<std::uint32_t>{3, 1, 4, 2}, {1, 1, 1}, {5}, {2, 7, 3, 7, 1, 5}, {4, 4, 4}}) {
    const route_map map(rows);
    const waits_of_links waits(map);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    EXPECT_FALSE(waits.have_cycle());
    EXPECT_LE(waits.most_next_hops(), map.most_next_hops());
  }
}

TEST(route_map, the_first_hop_of_machines_stays_on_the_machine) {
  const route_map map({4, 4, 4});
  for (std::uint32_t from = 0; from < 12; ++from)
    for (std::uint32_t to = 0; to < 12; ++to) {
      if (from == to || from % 4 == to % 4) continue;
      EXPECT_EQ(map.next_hop(from, to) / 4, from / 4);
    }
}

}  // namespace
}  // namespace shoal::net
