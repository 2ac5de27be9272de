// SPDX-License-Identifier: Apache-2.0
#include "lockfree/slot_ring.hpp"

#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

namespace shoal::lockfree {
namespace {

TEST(slot_ring, zeroed_memory_is_an_empty_ring) {
  alignas(slot_ring_control<>) std::byte memory[sizeof(slot_ring_control<>)];
  std::memset(memory, 0, sizeof memory);
  auto& control = *reinterpret_cast<slot_ring_control<>*>(memory);
  slot_ring_producer<> producer(control, 4);
  slot_ring_consumer<> consumer(control, 4);
  EXPECT_TRUE(producer.has_room());
  EXPECT_EQ(producer.consumed(), 0U);
  EXPECT_EQ(consumer.available(), 0U);
  EXPECT_EQ(producer.fill_index(), 0U);
}

TEST(slot_ring, fills_and_empties) {
  slot_ring_control<> control;
  slot_ring_producer<> producer(control, 4);
  slot_ring_consumer<> consumer(control, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(producer.has_room());
    EXPECT_EQ(producer.fill_index(), i);
    producer.publish();
  }
  EXPECT_FALSE(producer.has_room());
  EXPECT_EQ(producer.published(), 4U);
  EXPECT_EQ(consumer.available(), 4U);
  EXPECT_EQ(consumer.front_index(), 0U);
  EXPECT_EQ(consumer.front_index(3), 3U);
  consumer.release();
  EXPECT_EQ(consumer.available(), 3U);
  EXPECT_EQ(consumer.front_index(), 1U);
  EXPECT_EQ(producer.consumed(), 1U);
  EXPECT_TRUE(producer.has_room());
  EXPECT_EQ(producer.fill_index(), 0U);
}

TEST(slot_ring, counts_on_over_many_rounds) {
  slot_ring_control<> control;
  slot_ring_producer<> producer(control, 2);
  slot_ring_consumer<> consumer(control, 2);
  int slots[2] = {-1, -1};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(producer.has_room());
    slots[producer.fill_index()] = i;
    producer.publish();
    if (i % 2 == 0) continue;
    EXPECT_FALSE(producer.has_room());
    for (int k = i - 1; k <= i; ++k) {
      ASSERT_GT(consumer.available(), 0U);
      EXPECT_EQ(slots[consumer.front_index()], k);
      consumer.release();
    }
    EXPECT_EQ(consumer.available(), 0U);
  }
  EXPECT_EQ(producer.consumed(), 1000U);
  EXPECT_EQ(consumer.consumed(), 1000U);
}

TEST(slot_ring, one_slot_is_a_ring_too) {
  slot_ring_control<> control;
  slot_ring_producer<> producer(control, 1);
  slot_ring_consumer<> consumer(control, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(producer.has_room());
    producer.publish();
    EXPECT_FALSE(producer.has_room());
    EXPECT_EQ(consumer.available(), 1U);
    consumer.release();
  }
}

TEST(slot_ring, who_attaches_later_goes_on_where_the_ring_is) {
  slot_ring_control<> control;
  slot_ring_producer<> first(control, 4);
  for (int i = 0; i < 3; ++i) first.publish();
  slot_ring_consumer<> consumer(control, 4);
  EXPECT_EQ(consumer.available(), 3U);
  consumer.release();
  slot_ring_producer<> second(control, 4);
  EXPECT_EQ(second.fill_index(), 3U);
  EXPECT_EQ(second.published(), 3U);
  second.publish();
  EXPECT_TRUE(second.has_room());
  second.publish();
  EXPECT_FALSE(second.has_room());
  slot_ring_consumer<> later(control, 4);
  EXPECT_EQ(later.front_index(), 1U);
  EXPECT_EQ(later.available(), 4U);
}

}  // namespace
}  // namespace shoal::lockfree
