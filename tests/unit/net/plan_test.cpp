// SPDX-License-Identifier: Apache-2.0
#include "net/routes/plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shoal/error.hpp"

namespace shoal::net {
namespace {

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

route_plan plan_for(std::uint32_t nodes, unsigned workers, std::uint64_t bytes, const std::string& route = "auto") {
  return plan_routes({route, bytes, 2048, true}, {nodes, workers, 16384, 8, {}});
}

TEST(route_plan, few_nodes_have_buffers_of_their_own) {
  EXPECT_FALSE(plan_for(1, 1, 1).is_routed());
  EXPECT_FALSE(plan_for(2, 4, 64 * k_mib).is_routed());
  EXPECT_FALSE(plan_for(64, 1, 64 * k_mib).is_routed());
  EXPECT_EQ(plan_for(2, 2, 64 * k_mib).name, "direct");
}

TEST(route_plan, more_nodes_and_workers_take_more_hops_and_keep_within_the_memory) {
  EXPECT_EQ(plan_for(64, 64, 64 * k_mib).name, "shared");
  EXPECT_EQ(plan_for(1024, 1, 64 * k_mib).name, "grid");
  EXPECT_EQ(plan_for(4096, 1, 32 * k_mib).name, "cube");
  for (const std::uint32_t nodes : {64U, 256U, 1024U, 4096U})
    for (const unsigned workers : {1U, 4U, 64U})
      EXPECT_LE(plan_for(nodes, workers, 1024 * k_mib).bytes, 1024 * k_mib) << nodes << " x " << workers;
}

TEST(route_plan, blocks_shrink_before_it_gives_up) {
  const route_plan plan = plan_for(4096, 64, 512 * k_mib);
  EXPECT_TRUE(plan.is_routed());
  EXPECT_LT(plan.block_bytes, 2048U);
  EXPECT_LE(plan.bytes, 512 * k_mib);
}

TEST(route_plan, too_little_memory_is_refused_with_what_is_needed) {
  try {
    plan_for(1024, 64, k_mib);
    FAIL() << "1 MiB cannot be enough";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("SHOAL_AGGREGATION_MEMORY"), std::string::npos) << e.what();
  }
}

TEST(route_plan, a_memory_that_nobody_has_asked_for_may_be_exceeded) {
  const route_plan plan = plan_routes({"auto", k_mib, 512, false}, {1024, 64, 16384, 8, {}});
  EXPECT_EQ(plan.name, "cube");
  EXPECT_GT(plan.bytes, k_mib);
}

TEST(route_plan, a_route_can_be_asked_for_by_name) {
  for (const char* const name : {"shared", "grid", "cube"}) EXPECT_EQ(plan_for(8, 1, 64 * k_mib, name).name, name);
  EXPECT_EQ(plan_routes({"machine", 64 * k_mib, 512, true}, {6, 1, 16384, 8, {4, 2}}).map->next_hop(0, 5), 1U);
  EXPECT_THROW(plan_for(8, 1, 64 * k_mib, "machine"), error);
}

}  // namespace
}  // namespace shoal::net
