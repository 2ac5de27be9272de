// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/barrier.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

class barrier_bench : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(barrier_bench);

TEST_P(barrier_bench, orders_and_sums_on_every_shape) {
  run([] {
    const auto r = shoal::bench::measure_barrier(50);
    EXPECT_TRUE(r.ordered);
    EXPECT_TRUE(r.summed);
    EXPECT_GE(r.barrier_us, 0);
  });
}

}  // namespace
