// SPDX-License-Identifier: Apache-2.0
// The benchmark of locks counts what it guards, for every kind and way of waiting. No speeds.
#include "bench/micro/locks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

TEST(locks_bench, every_kind_counts_right_and_is_metered) {
  lock_load load;
  load.threads = 3;
  load.seconds = 0.01;
  load.packages = {0, 1};
  for (const auto kind : lock_kinds())
    for (const auto wait : {wait_kind::yield, wait_kind::adaptive}) {
      load.wait = wait;
      const lock_result r = measure_lock(kind, load);
      EXPECT_TRUE(r.correct) << kind;
      EXPECT_GT(r.ns_per_acquisition, 0) << kind;
      EXPECT_GT(r.metered.acquisitions, 0U) << kind;
      EXPECT_EQ(r.metered.by_thread.size(), 3U) << kind;
    }
}

TEST(locks_bench, a_class_that_starves_does_not_hold_up_the_run) {
  lock_load load;
  load.threads = 6;
  load.low = 3;
  load.wait = wait_kind::spin;
  load.seconds = 0.01;
  EXPECT_TRUE(measure_lock("priority", load).correct);
}

TEST(locks_bench, one_thread_beside_the_bare_exchange_and_store) {
  lock_load load;
  load.threads = 1;
  load.seconds = 0.01;
  for (const auto kind : {"bare", "tas"}) {
    const lock_result r = measure_lock(kind, load);
    EXPECT_TRUE(r.correct) << kind;
    EXPECT_EQ(r.metered.contended, 0U);
    EXPECT_TRUE(std::isnan(r.metered.bias_core));
  }
}

TEST(locks_bench, an_unknown_kind_is_refused) { EXPECT_THROW(measure_lock("best", {}), error); }

TEST(locks_bench, the_picture_has_every_kind) {
  std::vector<lock_row> rows;
  for (const auto kind : lock_kinds()) rows.push_back({std::string(kind), 4, 100, 0.1, 10, 5000, 1, std::nan("")});
  const std::string svg = locks_picture(rows, "adaptive");
  EXPECT_EQ(svg.find("<svg"), 0U);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  for (const auto kind : lock_kinds())
    EXPECT_NE(svg.find(">" + std::string(kind) + " x 4<"), std::string::npos) << kind;
  EXPECT_NE(locks_picture({}, "spin").find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace shoal::bench
