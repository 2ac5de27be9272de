// SPDX-License-Identifier: Apache-2.0
#include "sched/worker_map.hpp"

#include <gtest/gtest.h>

#include "unit/sched/scripted_view.hpp"

namespace shoal::sched {
namespace {

TEST(worker_map, knows_what_two_workers_share) {
  const worker_map map = described("package:2 numa:2 l3:2 l2:2 core:2 pu:2", 64);
  ASSERT_EQ(map.workers(), 64U);
  ASSERT_EQ(map.packages(), 2U);
  // Workers 0 to 31 have a core each; 32 to 63 are the second threads of the same cores.
  EXPECT_EQ(map.distance(0, 32), worker_distance::core);
  EXPECT_EQ(map.distance(0, 1), worker_distance::l2);
  EXPECT_EQ(map.distance(0, 2), worker_distance::l3);
  EXPECT_EQ(map.distance(0, 4), worker_distance::numa);
  EXPECT_EQ(map.distance(0, 8), worker_distance::package);
  EXPECT_EQ(map.distance(0, 16), worker_distance::machine);
  EXPECT_EQ(map.distance(63, 31), worker_distance::core);
  EXPECT_EQ(map.package(15), 0U);
  EXPECT_EQ(map.package(16), 1U);
  EXPECT_EQ(map.package(63), 1U);
  EXPECT_EQ(map.first_in_package(1), 16U);
}

TEST(worker_map, packages_without_workers_do_not_count) {
  const auto machine = machine::topology::synthetic("package:4 core:2 pu:1");
  const worker_map map(2, machine.choose(4, 3, 2).where);  // the last package's cores
  EXPECT_EQ(map.packages(), 1U);
  EXPECT_EQ(map.package(1), 0U);
  EXPECT_EQ(map.first_in_package(0), 0U);
}

TEST(worker_map, packages_without_memory_of_their_own_share_the_machine_only) {
  EXPECT_EQ(described("package:2 core:1 pu:1", 2).distance(0, 1), worker_distance::machine);
  EXPECT_EQ(described("core:2 pu:1", 2).distance(0, 1), worker_distance::numa);
}

TEST(worker_map, unknown_places_are_one_package_without_neighbours) {
  const worker_map map(3, {});
  EXPECT_EQ(map.packages(), 1U);
  EXPECT_EQ(map.distance(0, 2), worker_distance::machine);
  EXPECT_EQ(map.package(2), 0U);
  EXPECT_EQ(map.first_in_package(0), 0U);
}

}  // namespace
}  // namespace shoal::sched
