// SPDX-License-Identifier: Apache-2.0
// What the benchmark of domains tells its jobs and what they answer; its work between nodes of one process, whose
// memory is compared; the picture. No speeds.
#include "bench/micro/domains.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "machine/topology.hpp"
#include "net/plugin.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

using enum domains_op;

std::vector<domains_value> measure(const char* transport, const char* domains, const char* messages,
                                   unsigned initiators, bool& one_sided) {
  const machine::affinity_scope unpinned;
  auto s = runtime::all_settings();
  s.set("nodes", std::to_string(initiators + 1));
  s.set("workers", "2");
  s.set("direct", "off");
  s.set("transport", transport);
  s.set("domains", domains);
  s.set("messages", messages);
  domains_plan plan;
  plan.ops = {put, get, send, add, adds, add_one};
  plan.bytes = {8, 65536};
  plan.initiators = initiators;
  plan.window = 8;
  plan.seconds = 0.001;
  plan.pinned = false;
  std::vector<domains_value> values;
  EXPECT_EQ(runtime::run_in_process(runtime::read_config(s),
                                    [&] {
                                      values = measure_domains(plan, one_sided);
                                      return 0;
                                    }),
            0);
  for (const domains_value& v : values) {
    EXPECT_TRUE(v.correct) << v.said;
    EXPECT_EQ(v.latency_us > 0, has_sizes(v.op) || v.op == add) << v.text();
    EXPECT_EQ(v.mops > 0, v.op != add) << v.text();
  }
  return values;
}

TEST(domains_bench, where_nothing_is_one_sided_messages_are_measured) {
  for (const unsigned initiators : {1U, 2U}) {
    bool one_sided = true;
    EXPECT_EQ(measure("inproc", "0", "own", initiators, one_sided).size(), 5U);
    EXPECT_FALSE(one_sided);
  }
}

TEST(domains_bench, what_was_put_got_and_added_over_a_network_library_is_compared) {
  const auto folders = net::plugin_folders({});
  if (!net::has_plugin("ucx", folders)) {
    EXPECT_THROW(net::load_plugin("ucx", folders), error);
    return;
  }
  for (const auto& [domains, messages] : {std::pair{"1", "own"}, std::pair{"2", "own"}, std::pair{"2", "domain_0"}}) {
    bool one_sided = false;
    EXPECT_EQ(measure("ucx", domains, messages, 1, one_sided).size(), 9U) << domains << messages;
    EXPECT_TRUE(one_sided);
  }
}

TEST(domains_bench, a_plan_and_its_values_survive_as_text) {
  domains_plan plan;
  plan.ops = {get, add_one};
  plan.bytes = {8, 4096};
  plan.initiators = 3;
  plan.window = 16;
  plan.seconds = 0.25;
  plan.pinned = false;
  const domains_plan read = domains_plan::parse(plan.text());
  EXPECT_EQ(read.ops, plan.ops);
  EXPECT_EQ(read.bytes, plan.bytes);
  EXPECT_EQ(read.initiators, 3U);
  EXPECT_EQ(read.window, 16U);
  EXPECT_EQ(read.seconds, 0.25);
  EXPECT_FALSE(read.pinned);
  const domains_value value{
      .op = put, .bytes = 64, .latency_us = 1.5, .mops = 2.25, .correct = true, .said = "as it was"};
  const domains_value same = domains_value::parse(value.text());
  EXPECT_EQ(same.text(), value.text());
  EXPECT_EQ(same.said, "as it was");
  for (const char* wrong : {"", "ops=", "ops=swap", "ops=put window=0", "ops=put bytes=x", "ops", "ops=put colour=red"})
    EXPECT_THROW(domains_plan::parse(wrong), error) << wrong;
  for (const char* wrong : {"", "put", "put 8 1", "swap 8 1 1 1 well"})
    EXPECT_THROW(domains_value::parse(wrong), error) << wrong;
}

TEST(domains_bench, the_picture_has_every_curve_and_leaves_gaps) {
  const std::vector<domains_panel> panels{{"latency in us", {"D = 1", "D = 2"}, {{"put", {1, 10}}, {"get", {0.5, 0}}}},
                                          {"rate", {"8 B"}, {{"puts", {std::nan("")}}}}};
  const std::string svg = domains_picture(panels, "Domains");
  EXPECT_EQ(svg.find("<svg"), 0U);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  for (const char* words : {">put<", ">get<", ">puts<", ">D = 2<", ">latency in us<", "put, D = 2: 10"})
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  EXPECT_EQ(svg.find("get, D = 2"), std::string::npos);
  EXPECT_NE(domains_picture({}, "none").find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace shoal::bench
