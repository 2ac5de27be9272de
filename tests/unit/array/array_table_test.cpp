// SPDX-License-Identifier: Apache-2.0
#include "array/array_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using shoal::array::array_table;
using shoal::array::k_most_arrays;
using shoal::detail::array_layout;

array_layout layout_at(std::uint32_t slot, std::uint32_t generation, std::uint64_t size) {
  array_layout l = array_layout::make(shoal::distribution::partition, size, 8, 0, 2);
  l.slot = slot;
  l.generation = generation;
  return l;
}

TEST(array_table, leads_from_an_id_to_the_layout) {
  array_table t;
  const auto first = layout_at(0, 1, 10);
  const auto last = layout_at(k_most_arrays - 1, 2, 20);
  t.enter(first);
  t.enter(last);
  ASSERT_NE(t.find(first.id()), nullptr);
  EXPECT_EQ(t.find(first.id())->size, 10U);
  ASSERT_NE(t.find(last.id()), nullptr);
  EXPECT_EQ(t.find(last.id())->size, 20U);
}

TEST(array_table, does_not_find_what_was_never_entered) {
  array_table t;
  EXPECT_EQ(t.find(0), nullptr);
  EXPECT_EQ(t.find(layout_at(0, 1, 1).id()), nullptr);
  EXPECT_EQ(t.find(std::uint64_t{1} << 32 | k_most_arrays), nullptr);  // a slot behind the last one
  EXPECT_EQ(t.find(~std::uint64_t{0}), nullptr);
  t.enter(layout_at(3, 7, 1));
  EXPECT_EQ(t.find(3), nullptr);  // the slot without its generation
}

TEST(array_table, does_not_find_a_freed_array_whose_slot_is_in_use_again) {
  array_table t;
  const auto old = layout_at(5, 1, 10);
  t.enter(old);
  t.remove(5);
  EXPECT_EQ(t.find(old.id()), nullptr);
  const auto next = layout_at(5, 2, 30);
  t.enter(next);
  EXPECT_EQ(t.find(old.id()), nullptr);
  ASSERT_NE(t.find(next.id()), nullptr);
  EXPECT_EQ(t.find(next.id())->size, 30U);
}

TEST(array_table, shows_generations_by_slot) {
  array_table t;
  EXPECT_EQ(t.generations()[9], 0U);
  t.enter(layout_at(9, 4, 1));
  EXPECT_EQ(t.generations()[9], 4U);
  t.remove(9);
  EXPECT_EQ(t.generations()[9], 0U);
}

}  // namespace
