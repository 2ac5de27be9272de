// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm_table.hpp"

#include <gtest/gtest.h>

#include <shoal/error.hpp>

#include "collectives/settings.hpp"

namespace shoal::collectives {
namespace {

using enum algorithm;

TEST(algorithm_table, has_short_and_long_ways) {
  const algorithm_table t;
  EXPECT_EQ(t.of(operation::broadcast, 2, 1 << 20), binomial);
  EXPECT_EQ(t.of(operation::broadcast, 3, 16383), binomial);
  EXPECT_EQ(t.of(operation::broadcast, 3, 16384), scattered);
  EXPECT_EQ(t.of(operation::all_reduce, 1024, 8), doubling);
  EXPECT_EQ(t.of(operation::all_reduce, 1024, 1 << 20), rabenseifner);
  EXPECT_EQ(t.of(operation::all_to_all, 2, 8), pairwise);
  EXPECT_EQ(t.of(operation::all_to_all, 64, 256), bruck);
  EXPECT_EQ(t.of(operation::all_to_all, 64, 257), pairwise);
}

TEST(algorithm_table, takes_the_last_row_that_fits_of_those_that_are_given) {
  const algorithm_table t(" all_gather 0 0 bruck, all_gather 4 64K ring,, all_gather 4 1M bruck ");
  EXPECT_EQ(t.of(operation::all_gather, 3, 1 << 16), bruck);
  EXPECT_EQ(t.of(operation::all_gather, 4, (1 << 16) - 1), bruck);
  EXPECT_EQ(t.of(operation::all_gather, 4, 1 << 16), ring);
  EXPECT_EQ(t.of(operation::all_gather, 64, 1 << 20), bruck);
  EXPECT_EQ(t.of(operation::broadcast, 3, 16384), scattered);  // as it was
  EXPECT_EQ(algorithm_table(t.text()).text(), t.text());
  EXPECT_NE(t.text(), algorithm_table().text());
}

TEST(algorithm_table, refuses_rows_that_cannot_be_and_says_why) {
  const auto refused = [](const char* rows, const char* why) {
    try {
      algorithm_table t(rows);
      ADD_FAILURE() << rows;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  refused("all_gather 4 64K", "3 words");
  refused("allgather 0 0 ring", "operations are broadcast, reduce");
  refused("all_gather 0 0 binomial", "all_gather is bruck or ring");
  refused("all_gather 0 0 rings", "all_gather is bruck or ring");
  refused("all_gather 0 x ring", "no number");
  refused("all_gather -1 0 ring", "no number");
  refused("all_gather 4 0 ring", "the first row of all_gather");
}

TEST(algorithm_table, is_a_setting) {
  base::settings s;
  s.add(k_collectives_settings);
  EXPECT_EQ(read_options(s).algorithms.text(), algorithm_table().text());
  s.set("collectives", "reduce 0 0 rabenseifner");
  EXPECT_EQ(read_options(s).algorithms.of(operation::reduce, 2, 8), rabenseifner);
}

}  // namespace
}  // namespace shoal::collectives
