// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shoal/error.hpp"

namespace shoal::net {
namespace {

sim_options read_with(std::initializer_list<std::pair<const char*, const char*>> values) {
  base::settings s;
  s.add(k_sim_settings);
  for (const auto& [name, value] : values) s.set(name, value);
  s.check();
  return read_sim_options(s);
}

TEST(sim_settings, defaults_are_those_of_infiniband) {
  const sim_options o = read_with({});
  EXPECT_EQ(o.network.latency_ps, find_sim_network("infiniband")->latency_ps);
  EXPECT_EQ(o.network.topology, sim_topology::fat_tree);
  EXPECT_EQ(o.measured_factor, 0);
  EXPECT_EQ(o.seed, 1U);
  EXPECT_EQ(o.stack_bytes, std::size_t{1} << 20);
}

TEST(sim_settings, figures_replace_those_of_the_network) {
  const sim_options o = read_with({{"sim_network", "ethernet"},
                                   {"sim_topology", "torus"},
                                   {"sim_latency", "2500"},
                                   {"sim_hop", "10.5"},
                                   {"sim_bandwidth", "200"},
                                   {"sim_gap", "0"},
                                   {"sim_jitter", "0.5"},
                                   {"sim_compute", "measured"},
                                   {"sim_factor", "2"},
                                   {"sim_seed", "99"}});
  EXPECT_EQ(o.network.topology, sim_topology::torus);
  EXPECT_EQ(o.network.latency_ps, 2'500'000U);
  EXPECT_EQ(o.network.hop_ps, 10'500U);
  EXPECT_EQ(o.network.byte_ps, 40U);
  EXPECT_EQ(o.network.message_gap_ps, 0U);
  EXPECT_EQ(o.network.jitter, 0.5);
  EXPECT_EQ(o.jitter, 0.5);
  EXPECT_EQ(o.measured_factor, 2);
  EXPECT_EQ(o.seed, 99U);
}

TEST(sim_settings, costs_are_changed_by_name) {
  const sim_costs c = parse_sim_costs("iteration=1.5,send=0.3us,wake_delay=2000ns");
  EXPECT_EQ(c.iteration_ps, 1500U);
  EXPECT_EQ(c.send_ps, 300'000U);
  EXPECT_EQ(c.wake_delay_ps, 2'000'000U);
  EXPECT_EQ(c.turn_ps, sim_costs().turn_ps);
}

TEST(sim_settings, wrong_costs_are_refused_with_the_names_that_there_are) {
  for (const char* wrong : {"iteration", "speed=3", "send=fast", "send=-1", "send=", "turn=2s", "yield=0", "clock=0"}) {
    try {
      read_with({{"sim_costs", wrong}});
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("iteration, poll"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace shoal::net
