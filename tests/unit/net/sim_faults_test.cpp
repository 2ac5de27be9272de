// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/faults.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "fiber/sanitizer.hpp"
#include "net/transports/sim/network.hpp"
#include "net/transports/sim/sim_executor.hpp"
#include "shoal/error.hpp"

namespace shoal::net {
namespace {

constexpr std::uint64_t k_us_ps = 1'000'000;

std::vector<sim_fault> faults_from(const char* text, std::uint32_t nodes = 8) {
  return faults_of(parse_sim_faults(text), nodes, 1);
}

TEST(sim_faults, are_read_in_the_order_of_their_begin) {
  const auto all = faults_from("cut(0-1,2ms,1ms) + stop(3,1ms,500us)+die(7,3000000)+slow(2-*,2.5,0)");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(describe(all[0]), "slow(2-*,2.5,0ns)");
  EXPECT_EQ(describe(all[1]), "stop(3,1ms,500us)");
  EXPECT_EQ(describe(all[2]), "cut(0-1,2ms,1ms)");
  EXPECT_EQ(describe(all[3]), "die(7,3ms)");
  EXPECT_TRUE(faults_from("").empty());
}

TEST(sim_faults, that_are_wrong_are_refused_with_those_that_there_are) {
  for (const char* wrong :
       {"stop", "stop(1)", "stop(x,1ms)", "stop(1,1h)", "die(1,1ms,1ms)", "cut(1,1ms)", "cut(1-1,1ms)", "slow(0-1,1ms)",
        "slow(0-1,0.5,1ms)", "explode(1,1ms)", "stop(1,1ms)+", "+stop(1,1ms)", "random(3)",
        "random(3,1ms)+random(3,2ms)", "random(3,0)", "stop(8,1ms)", "cut(0-8,1ms)", "stop(1,-1ms)", "stop(1,nan)"}) {
    try {
      faults_from(wrong);
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("sim_faults: '"), std::string::npos) << e.what();
    }
  }
}

TEST(sim_faults, drawn_ones_depend_on_the_seed_alone_and_end) {
  const auto plan = parse_sim_faults("random(50,2ms)");
  std::set<std::string> different;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::string said;
    for (const sim_fault& f : faults_of(plan, 5, seed)) {
      said += describe(f);
      EXPECT_LT(f.from_ps, 2000 * k_us_ps);
      EXPECT_LE(f.until_ps, 2500 * k_us_ps);
      EXPECT_LT(f.node, 5U);
      EXPECT_TRUE(!f.other || (*f.other < 5 && *f.other != f.node));
      EXPECT_NE(f.what, sim_fault::kind::die);
    }
    different.insert(said);
  }
  EXPECT_EQ(different.size(), 3U);
  for (const sim_fault& f : faults_of(plan, 1, 1)) EXPECT_EQ(f.what, sim_fault::kind::stop);
}

TEST(sim_faults, of_links_delay_the_messages_of_those_links) {
  const sim_network_shape shape;
  constexpr std::size_t k_bytes = 1000;
  sim_network sound(shape, 8);
  const std::uint64_t usual_ps = sound.carry(0, 1, k_bytes, 0);
  const std::uint64_t acknowledged_ps = sound.carry_acknowledgement(1, 0, 0);
  sim_network faulty(shape, 8, faults_from("slow(0-1,10,0,50us)+cut(0-1,100us,50us)+cut(4-*,0)"));
  EXPECT_NEAR(static_cast<double>(faulty.carry(0, 1, k_bytes, 0)), 10.0 * static_cast<double>(usual_ps), 2e5);
  EXPECT_EQ(faulty.carry_acknowledgement(1, 0, 0), 10 * acknowledged_ps);
  EXPECT_EQ(faulty.carry(0, 2, k_bytes, 60 * k_us_ps), usual_ps + 60 * k_us_ps);
  EXPECT_EQ(faulty.carry(1, 0, k_bytes, 60 * k_us_ps), usual_ps + 60 * k_us_ps);
  EXPECT_GE(faulty.carry(0, 1, k_bytes, 120 * k_us_ps), usual_ps + 150 * k_us_ps);
  EXPECT_EQ(faulty.carry_acknowledgement(1, 0, 120 * k_us_ps), acknowledged_ps + 150 * k_us_ps);
  EXPECT_EQ(faulty.carry(0, 1, k_bytes, 200 * k_us_ps), usual_ps + 200 * k_us_ps);
  EXPECT_EQ(faulty.carry(2, 4, k_bytes, k_us_ps), k_never_ps);
  EXPECT_EQ(faulty.carry_acknowledgement(4, 6, k_us_ps), k_never_ps);
}

TEST(sim_faults, of_one_node_or_link_may_overlap) {
  const auto all =
      faults_from("stop(1,1ms,2ms)+stop(1,2ms,2ms)+stop(1,5ms,1ms)+stop(2,0)+stop(3,1ms,5ms)+die(3,4ms)+stop(3,5ms)");
  std::string said;
  for (const sim_fault& f : all) said += describe(f);
  EXPECT_EQ(said, "stop(2,0ns)stop(1,1ms,3ms)stop(3,1ms,3ms)die(3,4ms)stop(1,5ms,1ms)");
  const sim_network_shape shape;
  sim_network sound(shape, 4);
  const std::uint64_t usual_ps = sound.carry(0, 1, 8, 0);
  sim_network faulty(shape, 4, faults_from("slow(0-1,4,0)+cut(0-1,1ms,2ms)+cut(0-*,2ms,3ms)+cut(0-2,0,1ms)", 4));
  EXPECT_NEAR(static_cast<double>(faulty.carry(0, 1, 8, 1500 * k_us_ps)), 5e9 + 4 * static_cast<double>(usual_ps), 1e5);
  EXPECT_EQ(faulty.carry(0, 2, 8, 1500 * k_us_ps), usual_ps + 1500 * k_us_ps);
  EXPECT_GE(faulty.carry(0, 3, 8, 2500 * k_us_ps), usual_ps + 5000 * k_us_ps);
  sim_network extreme({sim_topology::flat, 1'000'000'000'000'000}, 2, faults_from("slow(0-1,1000000,0)", 2));
  EXPECT_LT(extreme.carry(0, 1, 8, 0), k_never_ps / 4);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
// Its threads do not end, so neither does the machine: the process does.
[[noreturn]] void stop_for_ever(const char* text) {
  sim_clock_options o;
  o.faults = faults_from(text);
  sim_executor by(o);
  std::vector<std::uint64_t> seen;
  by.enter_node(3);
  auto dead = by.start_thread("3", [&] {
    for (;;) {
      by.spend_ps(10 * k_us_ps);
      by.give_way();
      seen.push_back(by.now_ps() / k_us_ps);
    }
  });
  by.enter_node(0);
  std::atomic<std::uint32_t> never{0};
  by.wait(never, 0, 1'000'000, false);  // meanwhile it is alone
  std::_Exit(seen.size() == 9 ? 0 : 1);
}

TEST(sim_faults_death_test, a_node_that_stops_for_ever_does_nothing_more_even_if_it_is_alone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(stop_for_ever("die(3,100us)"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(stop_for_ever("stop(3,100us)"), testing::ExitedWithCode(0), "");
}
#endif

TEST(sim_faults, a_node_that_stops_does_nothing_meanwhile) {
  sim_clock_options o;
  o.lookahead_ps = 0;
  o.faults = faults_from("stop(3,100us,50us)+stop(3,400us,100us)");
  sim_executor by(o);
  std::vector<std::uint64_t> of_3, of_4;
  const auto compute = [&](std::uint32_t node, std::vector<std::uint64_t>& seen) {
    return [&by, &seen, node] {
      by.enter_node(node);
      by.start_thread("another",
                      [&by, &seen] {  // of the same node
                        for (int i = 0; i < 30; ++i) {
                          by.spend_ps(10 * k_us_ps);
                          by.give_way();
                          seen.push_back(by.now_ps() / k_us_ps);
                        }
                      })
          ->join();
      std::atomic<std::uint32_t> never{0};
      by.wait(never, 0, 70'000, false);  // over the begin of the second stop
      seen.push_back(by.now_ps() / k_us_ps);
    };
  };
  {
    auto one = by.start_thread("3", compute(3, of_3));
    auto other = by.start_thread("4", compute(4, of_4));
  }
  EXPECT_NEAR(static_cast<double>(of_4[29]), 300, 10);
  EXPECT_NEAR(static_cast<double>(of_3[29]), 350, 10);
  for (const std::uint64_t us : of_3) {
    EXPECT_FALSE(us > 100 && us < 150) << us;
    EXPECT_FALSE(us > 400 && us < 500) << us;
  }
  EXPECT_NEAR(static_cast<double>(of_4[30]), 370, 10);
  EXPECT_EQ(of_3[30], 500U);
}

}  // namespace
}  // namespace shoal::net
