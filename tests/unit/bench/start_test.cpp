// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/start.hpp"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(start, every_exchange_is_measured_and_compared) {
  const start_result r = measure_start(40, 100, 2);
  EXPECT_TRUE(r.correct);
  EXPECT_GT(r.come_ms, 0);
  EXPECT_EQ(r.empty_ms.size(), 2U);
  EXPECT_EQ(r.addresses_ms.size(), 2U);
}

}  // namespace
}  // namespace shoal::bench
