// SPDX-License-Identifier: Apache-2.0
#include "bench/busy_loops.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace shoal::bench {
namespace {

TEST(busy_loops, all_run_until_the_end) {
  busy_loops loops(5);
  for (unsigned i = 0; i < 5; ++i) {
    const std::uint64_t before = loops.rounds(i);
    EXPECT_GT(before, 0U);
    while (loops.rounds(i) == before) std::this_thread::yield();
  }
}

TEST(busy_loops, none_is_a_load_too) { const busy_loops loops(0); }

}  // namespace
}  // namespace shoal::bench
