// SPDX-License-Identifier: Apache-2.0
#include "lockfree/state_clock.hpp"

#include <gtest/gtest.h>

namespace shoal::lockfree {
namespace {

using clock = state_clock<3>;

TEST(state_clock, charges_what_passed) {
  clock c;
  c.restart(1, 100, 0, 100, 1);
  c.enter(2, 130, 1);
  c.enter(0, 135, 1);  // it turned out to be part of state 1
  clock::reading r;
  ASSERT_TRUE(c.try_read(r));
  EXPECT_EQ(r.elapsed, (std::array<std::uint64_t, 3>{0, 35, 0}));
  EXPECT_EQ(r.since, 135U);
  EXPECT_EQ(r.state, 0U);
  EXPECT_EQ(r.epoch, 1U);
  EXPECT_EQ(c.state(), 0U);
}

TEST(state_clock, restarts_where_it_is_told) {
  clock c;
  c.restart(1, 100, 0, 100, 1);
  c.enter(0, 110, 1);
  c.restart(2, 1020, 0, 1000, 2);  // what was between 110 and 1000 counts for nothing
  clock::reading r;
  ASSERT_TRUE(c.try_read(r));
  EXPECT_EQ(r.elapsed, (std::array<std::uint64_t, 3>{20, 10, 0}));
  EXPECT_EQ(r.state, 2U);
  EXPECT_EQ(c.epoch(), 2U);
}

}  // namespace
}  // namespace shoal::lockfree
