// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/scale.hpp"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(scale, executes_the_commands_that_it_measures_with) {
  for (const std::uint32_t nodes : {2U, 100U})
    for (const unsigned workers : {1U, 3U}) {
      const scale_costs c = measure_scale(nodes, workers, 0.001);
      EXPECT_TRUE(c.correct) << nodes << " nodes of " << workers;
      EXPECT_GT(c.poll_ns, 0);
      EXPECT_GT(c.wait_ns, 0);
      EXPECT_GT(c.idle_ns, 0);
    }
}

}  // namespace
}  // namespace shoal::bench
