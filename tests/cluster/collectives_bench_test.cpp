// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/barrier.hpp"
#include "bench/micro/collectives.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

class collectives_bench : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(collectives_bench);

TEST_P(collectives_bench, orders_and_sums_on_every_shape) {
  run([] {
    const auto r = shoal::bench::measure_barrier(50);
    EXPECT_TRUE(r.ordered);
    EXPECT_TRUE(r.summed);
    EXPECT_GE(r.barrier_us, 0);
  });
}

TEST_P(collectives_bench, measures_every_collective) {
  run([] {
    for (const std::uint64_t bytes : {8, 32768})
      for (const auto& one : shoal::bench::measure_collectives(bytes, 0)) {
        EXPECT_TRUE(one.right) << one.name;
        EXPECT_GT(one.us, 0) << one.name;
      }
  });
}

}  // namespace
