// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/priorities.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shoal::bench
