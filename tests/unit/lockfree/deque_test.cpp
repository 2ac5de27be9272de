// SPDX-License-Identifier: Apache-2.0
#include <shoal/detail/deque.hpp>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace shoal::lockfree {
namespace {

TEST(deque, starts_empty) {
  deque<int> d(4);
  EXPECT_TRUE(d.seems_empty());
  EXPECT_EQ(d.size_estimate(), 0U);
  EXPECT_EQ(d.pop(), nullptr);
  const int item = 0;
  EXPECT_FALSE(d.pop_if(&item));
  const steal_result<int> r = d.steal();
  EXPECT_EQ(r.item, nullptr);
  EXPECT_EQ(r.outcome, steal_outcome::empty);
}

TEST(deque, owner_takes_the_newest_and_a_thief_the_oldest) {
  int items[3];
  deque<int> d(4);
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.size_estimate(), 3U);
  EXPECT_FALSE(d.pop_if(&items[1]));
  EXPECT_TRUE(d.pop_if(&items[2]));
  EXPECT_FALSE(d.pop_if(&items[2]));
  const steal_result<int> r = d.steal();
  EXPECT_EQ(r.item, &items[0]);
  EXPECT_EQ(r.outcome, steal_outcome::won);
  EXPECT_FALSE(d.pop_if(&items[0]));
  EXPECT_EQ(d.pop(), &items[1]);
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_TRUE(d.seems_empty());
}

TEST(deque, popping_an_empty_one_changes_nothing) {
  int item = 0;
  deque<int> d(2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(d.pop(), nullptr);
  d.push(&item);
  EXPECT_EQ(d.size_estimate(), 1U);
  EXPECT_EQ(d.steal().item, &item);
  EXPECT_FALSE(d.pop_if(&item));  // its slot still shows it
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_TRUE(d.seems_empty());
}

TEST(deque, capacity_is_rounded_up_and_grows_when_full_only) {
  int items[100];
  EXPECT_EQ(deque<int>(0).capacity(), 2U);
  deque<int> d(5);
  EXPECT_EQ(d.capacity(), 8U);
  for (int i = 0; i < 8; ++i) d.push(&items[i]);
  EXPECT_EQ(d.capacity(), 8U);
  d.push(&items[8]);
  EXPECT_EQ(d.capacity(), 16U);
  for (int i = 9; i < 100; ++i) d.push(&items[i]);
  EXPECT_EQ(d.capacity(), 128U);
  EXPECT_EQ(d.size_estimate(), 100U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(d.steal().item, &items[i]);
  for (int i = 99; i >= 50; --i) EXPECT_EQ(d.pop(), &items[i]);
  EXPECT_EQ(d.pop(), nullptr);
}

TEST(deque, slots_that_thieves_emptied_are_used_again) {
  int items[4];
  deque<int> d(4);
  for (int round = 0; round < 1000; ++round) {
    for (int& i : items) d.push(&i);
    for (int& i : items) EXPECT_EQ(d.steal().item, &i);
  }
  EXPECT_EQ(d.capacity(), 4U);
}

TEST(deque, stays_small_when_pushed_and_popped_for_long) {
  int item = 0;
  deque<int> d(2);
  for (int i = 0; i < 100000; ++i) {
    d.push(&item);
    ASSERT_EQ(d.pop(), &item);
  }
  EXPECT_EQ(d.capacity(), 2U);
}

TEST(deque, owner_and_thieves_write_different_cache_lines) {
  EXPECT_GE(alignof(deque<int>), k_cache_line_bytes);
  EXPECT_EQ(sizeof(deque<int>) % k_cache_line_bytes, 0U);
  EXPECT_GE(sizeof(deque<int>), 2 * k_cache_line_bytes);
}

}  // namespace
}  // namespace shoal::lockfree
