// SPDX-License-Identifier: Apache-2.0
#include "machine/page_cost.hpp"

#include <gtest/gtest.h>

TEST(page_cost, a_first_touch_takes_time) { EXPECT_GT(shoal::machine::measure_first_touch_ns(), 0U); }
