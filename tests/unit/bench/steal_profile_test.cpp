// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/steal_profile.hpp"

#include <gtest/gtest.h>

#include "bench/micro/priorities.hpp"
#include "bench/micro/workers.hpp"

namespace shoal::bench {
namespace {

TEST(steal_profile, tasks_count_the_same_tree) {
  const std::uint64_t expected = count_tree(42, 0, 8);
  EXPECT_GT(expected, 85U);  // the first three levels are full
  std::uint64_t nodes = 0;
  run_on_workers(2, [&] { nodes = count_tree_by_tasks(42, 0, 8, 0); });
  EXPECT_EQ(nodes, expected);
}

TEST(steal_profile, shares_are_of_all_the_time) {
  steal_row r{"nearest", 2, 0.5, {}};
  r.sum.work_seconds = 0.75;
  r.sum.park.seconds = 0.25;
  r.sum.attempts[1] = {7, 2, 11};
  const std::string table = steal_table({r});
  EXPECT_NE(table.find("75.00%"), std::string::npos) << table;
  EXPECT_NE(table.find("25.00%"), std::string::npos);
  EXPECT_NE(table.find("11"), std::string::npos);
  EXPECT_NE(steal_picture({r}).find("work: 75.00 %"), std::string::npos);
  EXPECT_EQ(steal_picture({steal_row{}}).find("nan"), std::string::npos);
}

TEST(steal_profile, a_worker_that_never_joined_has_waited) {
  steal_row r{"nearest", 2, 0.5, {}};
  r.sum.work_seconds = 0.5;
  count_absent(r, 0.5);
  EXPECT_DOUBLE_EQ(r.sum.park.seconds, 0.5);
  EXPECT_NE(steal_table({r}).find("50.00%"), std::string::npos);
  count_absent(r, 0.4);  // nothing is missing
  EXPECT_DOUBLE_EQ(r.sum.park.seconds, 0.5);
}

}  // namespace
}  // namespace shoal::bench
