// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <gtest/gtest.h>

namespace shoal::base {
namespace {

TEST(table, has_aligned_columns_and_no_blanks_at_the_ends) {
  table t({"rank", "in", ""});
  t.add({"0-127", "MPI_Recv", "x"});
  t.add({"7", "sleep", ""});
  EXPECT_EQ(t.text(),
            "  rank   in\n"
            "  0-127  MPI_Recv  x\n"
            "  7      sleep");
}

TEST(short_duration, is_in_milliseconds_or_seconds) {
  EXPECT_EQ(short_duration(250'000'000), "250 ms");
  EXPECT_EQ(short_duration(2'140'000'000), "2.1 s");
}

}  // namespace
}  // namespace shoal::base
