// SPDX-License-Identifier: Apache-2.0
// Arrival times against values computed by hand.
#include "net/transports/sim/network.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace shoal::net {
namespace {

constexpr std::uint64_t k_network_ns = 1000;

sim_network_shape network_of(sim_topology topology) {
  sim_network_shape s;
  s.topology = topology;
  s.latency_ps = 1000 * k_network_ns;
  s.hop_ps = 100 * k_network_ns;
  s.message_gap_ps = 10 * k_network_ns;
  s.byte_ps = 100;
  s.radix = 4;
  s.taper = 1;
  return s;
}

TEST(sim_network, a_message_alone_takes_the_latency_and_its_bytes) {
  sim_network n(network_of(sim_topology::flat), 4);
  EXPECT_EQ(n.carry(0, 1, 0, 0), 1000 * k_network_ns);
  EXPECT_EQ(n.carry(2, 3, 1000, 5000 * k_network_ns), (5000 + 1000 + 100) * k_network_ns);
}

TEST(sim_network, a_card_sends_one_message_after_the_other) {
  sim_network n(network_of(sim_topology::flat), 4);
  EXPECT_EQ(n.carry(0, 1, 1000, 0), 1100 * k_network_ns);
  EXPECT_EQ(n.carry(0, 2, 1000, 0), 1200 * k_network_ns);
  EXPECT_EQ(n.carry(0, 3, 0, 0), 1200 * k_network_ns);                   // behind both, and without bytes
  EXPECT_EQ(n.carry(0, 1, 0, 0), 1210 * k_network_ns);                   // the gap between messages
  EXPECT_EQ(n.carry(0, 2, 0, 300 * k_network_ns), 1300 * k_network_ns);  // the card is free again
}

TEST(sim_network, a_card_receives_one_message_after_the_other) {
  sim_network n(network_of(sim_topology::flat), 4);
  EXPECT_EQ(n.carry(0, 3, 1000, 0), 1100 * k_network_ns);
  EXPECT_EQ(n.carry(1, 3, 1000, 0), 1200 * k_network_ns);
  EXPECT_EQ(n.carry(2, 3, 1000, 50 * k_network_ns), 1300 * k_network_ns);
}

TEST(sim_network, latency_more_than_usual_delays_one_message) {
  sim_network n(network_of(sim_topology::flat), 4);
  EXPECT_EQ(n.carry(0, 1, 0, 0, 7 * k_network_ns), 1007 * k_network_ns);
  EXPECT_EQ(n.carry(2, 1, 0, 0), 1017 * k_network_ns);
}

TEST(sim_network, a_fat_tree_has_switches_in_levels) {
  sim_network n(network_of(sim_topology::fat_tree), 16);  // two nodes per leaf
  EXPECT_EQ(n.switches_between(0, 1), 1U);
  EXPECT_EQ(n.switches_between(0, 2), 3U);
  EXPECT_EQ(n.switches_between(0, 4), 5U);
  EXPECT_EQ(n.switches_between(15, 0), 7U);
  EXPECT_EQ(n.carry(0, 1, 0, 0), 1000 * k_network_ns);
  EXPECT_EQ(n.carry(2, 0, 0, 0), 1200 * k_network_ns);
  EXPECT_EQ(n.latency_ps(15, 0), 1600 * k_network_ns);
}

TEST(sim_network, tapered_links_upwards_are_shared) {
  auto shape = network_of(sim_topology::fat_tree);
  shape.taper = 2;  // one link for the two nodes of a leaf
  sim_network n(shape, 16);
  EXPECT_EQ(n.carry(0, 4, 1000, 0), (1400 + 100) * k_network_ns);
  EXPECT_EQ(n.carry(1, 8, 1000, 0),
            (1600 + 100 + 100) * k_network_ns);  // another card, another receiver, the same link
  sim_network full(network_of(sim_topology::fat_tree), 16);
  EXPECT_EQ(full.carry(0, 4, 1000, 0), 1500 * k_network_ns);
  EXPECT_EQ(full.carry(1, 9, 1000, 0), 1700 * k_network_ns);
}

TEST(sim_network, a_torus_is_crossed_the_short_way_round) {
  sim_network n(network_of(sim_topology::torus), 64);  // 4 x 4 x 4
  EXPECT_EQ(n.switches_between(0, 1), 1U);
  EXPECT_EQ(n.switches_between(0, 3), 1U);  // round the end
  EXPECT_EQ(n.switches_between(0, 2), 2U);
  EXPECT_EQ(n.switches_between(0, 4 + 1), 2U);
  EXPECT_EQ(n.switches_between(0, 42), 6U);  // (2, 2, 2), as far as it gets
  EXPECT_EQ(n.carry(0, 42, 1000, 0), (1000 + 500 + 100) * k_network_ns);
}

TEST(sim_network, links_of_a_torus_carry_one_message_at_a_time) {
  sim_network n(network_of(sim_topology::torus), 64);
  EXPECT_EQ(n.carry(0, 2, 1000, 0), (1000 + 100 + 100) * k_network_ns);
  EXPECT_EQ(n.carry(1, 3, 1000, 0), (1000 + 100 + 100 + 100) * k_network_ns);  // behind it from 1 to 2
  EXPECT_EQ(n.carry(17, 18, 1000, 0), (1000 + 100) * k_network_ns);            // elsewhere
}

TEST(sim_network, presets_are_found_by_name) {
  EXPECT_EQ(find_sim_network("infiniband")->byte_ps, 80U);
  EXPECT_EQ(find_sim_network("slingshot")->byte_ps, 40U);
  EXPECT_EQ(find_sim_network("ethernet")->latency_ps, 20'000 * k_network_ns);
  EXPECT_EQ(find_sim_network("token ring"), nullptr);
}

}  // namespace
}  // namespace shoal::net
