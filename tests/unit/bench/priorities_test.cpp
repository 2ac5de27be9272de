// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/priorities.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/micro/priorities_groups.hpp"

namespace shoal::bench {
namespace {

TEST(priorities, all_links_and_tasks_run) {
  balance_request r;
  r.links = 20;
  r.link_us = 1;
  r.tasks = 100;
  r.task_us = 1;
  for (const priority p : {priority::normal, priority::high}) {
    const balance_result b = run_balance(r, p);
    EXPECT_GT(b.chain_seconds, 0);
    EXPECT_GE(b.seconds, b.chain_seconds);
    EXPECT_EQ(b.done, 120U);
  }
}

TEST(priorities, the_foreground_is_whole_with_any_background) {
  background_request r;
  r.steps = 10;
  r.task_us = 5;
  r.background_us = 20;
  EXPECT_EQ(run_background(r, false, priority::normal).background, 0U);
  for (const priority p : {priority::normal, priority::background})
    EXPECT_EQ(run_background(r, true, p).foreground, 80U);
}

std::vector<std::size_t> sizes_of(const allotment& sets) {
  std::vector<std::size_t> sizes;
  for (const auto& one : sets) sizes.push_back(one.size());
  return sizes;
}

TEST(priorities, processors_are_dealt_in_proportion_to_the_work) {
  using sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes_of(deal_processors(std::vector{3.0, 1.0}, 64, 64)), (sizes{48, 16}));
  EXPECT_EQ(sizes_of(deal_processors(std::vector{1.0, 1.0}, 64, 64)), (sizes{32, 32}));
  EXPECT_EQ(sizes_of(deal_processors(std::vector{4.5, 0.0, 1.0}, 8, 64)), (sizes{5, 1, 2}));  // each has one
  EXPECT_EQ(sizes_of(deal_processors(std::vector{9.0, 1.0}, 8, 4)), (sizes{4, 4}));           // as it has workers
  EXPECT_EQ(sizes_of(deal_processors(std::vector{9.0, 1.0}, 8, 2)), (sizes{2, 2}));           // four are left
  EXPECT_EQ(deal_processors(std::vector{1.0, 3.0}, 4, 4), (allotment{{0}, {1, 2, 3}}));
  // More groups than processors.
  EXPECT_EQ(deal_processors(std::vector{1.0, 1.0, 1.0, 1.0}, 2, 1), (allotment{{0}, {1}, {0}, {1}}));
  EXPECT_EQ(deal_processors(std::vector{1.0, 3.0, 1.0, 1.0}, 2, 1), (allotment{{1}, {0}, {1}, {1}}));
}

TEST(priorities, processors_are_lent_while_their_group_waits) {
  EXPECT_EQ(lend_processors({{0}, {1}}, {true, false}, 2), (allotment{{0, 1}, {1}}));
  EXPECT_EQ(lend_processors({{0}, {1}}, {true, true}, 2), (allotment{{0}, {1}}));
  EXPECT_EQ(lend_processors({{0}, {1}}, {true, false}, 1), (allotment{{0}, {1}}));  // no worker for it
  EXPECT_EQ(lend_processors({{0, 1}, {2}, {3, 4}}, {true, true, false}, 8), (allotment{{0, 1, 4}, {2, 3}, {3, 4}}));
  // A processor is free when all its groups wait.
  EXPECT_EQ(lend_processors({{0}, {1}, {0}, {1}}, {true, false, true, true}, 4), (allotment{{0}, {1}, {0}, {1}}));
  EXPECT_EQ(lend_processors({{0}, {1}, {0}, {1}}, {true, false, false, false}, 4), (allotment{{0, 1}, {1}, {0}, {1}}));
}

groups_request short_groups(unsigned groups, unsigned workers) {
  groups_request r;
  r.groups = groups;
  r.workers = workers;
  r.steps = 3;
  r.tasks = 50;
  r.task_us = 20;
  r.imbalance = 5;
  return completed(r);
}

TEST(priorities, groups_do_the_same_work_with_any_treatment) {
  for (const groups_request& r : {short_groups(2, 0), short_groups(3, 2), short_groups(5, 1)}) {
    const groups_work work = measure_work(r);
    EXPECT_GT(ideal_seconds(r, work), 0);
    for (const treatment_name& t : k_treatments) {
      const groups_result g = run_groups(r, t.how, work);
      EXPECT_EQ(g.sums, std::vector<std::uint64_t>(r.steps, work.sum)) << t.name;
      EXPECT_TRUE(g.stayed) << t.name;
      EXPECT_TRUE(g.granted) << t.name;
      EXPECT_GE(g.seconds, g.first_seconds) << t.name;
      const bool may_move = t.how == treatment::moved || t.how == treatment::lent;
      EXPECT_TRUE(may_move || g.moved == 0) << t.name;
    }
  }
}

TEST(priorities, the_first_group_gets_processors_of_others_only_if_they_are_lent) {
  const groups_request r = short_groups(2, 0);
  if (r.processors < 2) GTEST_SKIP() << "needs two processors";
  const groups_work work = measure_work(r);
  const unsigned own = (r.processors + 1) / 2;
  EXPECT_LE(run_groups(r, treatment::untreated, work).of_first, own);
  const groups_result lent = run_groups(r, treatment::lent, work);
  EXPECT_GT(lent.of_first, own);
  EXPECT_GT(lent.moved, 0);
}

TEST(priorities, the_ideal_time_has_two_bounds) {
  groups_request r;
  r.workers = r.processors = 4;
  const groups_work work{.rounds = 1, .sum = 0, .seconds = 8};
  EXPECT_DOUBLE_EQ(ideal_seconds(r, work), 2);  // all processors
  r.workers = 1;                                // three quarters of the work by one worker
  EXPECT_DOUBLE_EQ(ideal_seconds(r, work), 6);
  EXPECT_EQ(tasks_of(r, false), (std::vector<unsigned>{1200, 400}));
  EXPECT_EQ(tasks_of(r, true), (std::vector<unsigned>{800, 800}));
}

TEST(priorities, the_table_and_the_picture_compare_with_the_ideal) {
  const std::string table = groups_table({{"untreated", 40, 39, 13, 0}, {"lent", 25, 24, 12, 2}}, 20);
  EXPECT_NE(table.find("50%"), std::string::npos) << table;
  EXPECT_NE(table.find("80%"), std::string::npos) << table;
  const std::string picture = priorities_picture({{"steps", {{"untreated", 39, 40}, {"lent", 25, 25}}, 20}});
  EXPECT_NE(picture.find("untreated: 39.00 ms"), std::string::npos) << picture;
  EXPECT_NE(picture.find("ideal: 20.00 ms"), std::string::npos);
  EXPECT_EQ(picture.find("25.00 of"), std::string::npos);
  EXPECT_NE(picture.find("39.00 of 40.00 ms"), std::string::npos);
  EXPECT_EQ(priorities_picture({{"nothing", {{"none", 0, 0}}}}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace shoal::bench
