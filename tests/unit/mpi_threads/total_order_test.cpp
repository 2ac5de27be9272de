// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/total_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal::mpi_threads {
namespace {

TEST(total_order, two_processes_execute_two_calls_in_the_same_order) {
  total_order a(1), b(2);
  // Proposed in opposite orders.
  const auto a1 = a.propose(), a2 = a.propose();
  const auto b2 = b.propose(), b1 = b.propose();
  const auto first = std::max(a1, b1), second = std::max(a2, b2);
  ASSERT_NE(first, second);
  a.fix(a1, first);
  b.fix(b1, first);
  // The other call is not fixed anywhere yet and may still come before.
  EXPECT_FALSE(a.first(first) && b.first(first));
  a.fix(a2, second);
  b.fix(b2, second);
  EXPECT_NE(a.first(first), a.first(second));
  EXPECT_EQ(a.first(first), b.first(first));
  const auto winner = std::min(first, second), loser = std::max(first, second);
  EXPECT_TRUE(a.first(winner));
  a.remove(winner);
  EXPECT_TRUE(a.first(loser));
  EXPECT_FALSE(b.first(loser));
}

TEST(total_order, a_later_proposal_is_greater_than_what_was_agreed) {
  total_order a(1);
  const auto mine = a.propose();
  const std::int64_t agreed = std::int64_t{100} << 32 | 9;
  a.fix(mine, agreed);
  EXPECT_GT(a.propose(), agreed);
  EXPECT_TRUE(a.first(agreed));
}

TEST(total_order, a_call_that_failed_holds_up_nobody) {
  total_order a(1);
  const auto failed = a.propose(), other = a.propose();
  a.fix(other, other);
  EXPECT_FALSE(a.first(other));
  a.remove(failed);
  EXPECT_TRUE(a.first(other));
}

}  // namespace
}  // namespace shoal::mpi_threads
