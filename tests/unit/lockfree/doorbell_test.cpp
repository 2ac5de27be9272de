// SPDX-License-Identifier: Apache-2.0
#include "lockfree/doorbell.hpp"

#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

namespace shoal::lockfree {
namespace {

TEST(doorbell, rings_for_nobody_at_first) {
  doorbell<> bell;
  EXPECT_FALSE(bell.ring());
  EXPECT_FALSE(bell.may_sleep());
}

TEST(doorbell, zeroed_memory_is_a_doorbell_and_a_futex_word) {
  alignas(doorbell<>) std::byte memory[sizeof(doorbell<>)];
  std::memset(memory, 0, sizeof memory);
  auto& bell = *reinterpret_cast<doorbell<>*>(memory);
  EXPECT_EQ(sizeof memory, 4U);
  EXPECT_FALSE(bell.ring());
  bell.prepare();
  EXPECT_TRUE(bell.may_sleep());
  EXPECT_EQ(bell.word().load(), doorbell<>::k_announced);
}

TEST(doorbell, one_ring_is_answered) {
  doorbell<> bell;
  bell.prepare();
  EXPECT_TRUE(bell.ring());
  EXPECT_FALSE(bell.may_sleep());
  EXPECT_FALSE(bell.ring());
  EXPECT_EQ(bell.word().load(), doorbell<>::k_awake);
}

TEST(doorbell, who_has_cancelled_is_not_woken) {
  doorbell<> bell;
  bell.prepare();
  bell.cancel();
  EXPECT_FALSE(bell.may_sleep());
  EXPECT_FALSE(bell.ring());
  bell.prepare();
  EXPECT_TRUE(bell.ring());
}

}  // namespace
}  // namespace shoal::lockfree
