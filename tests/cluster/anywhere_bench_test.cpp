// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/anywhere.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::bench::queens_form;

class anywhere_bench : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(anywhere_bench);

TEST_P(anywhere_bench, finds_all_solutions_in_each_form) {
  run([] {
    const auto alone = shoal::bench::measure_queens(queens_form::local, 8);
    for (const queens_form form : {queens_form::future, queens_form::group, queens_form::local}) {
      const auto one = shoal::bench::measure_queens(form, 8);
      EXPECT_EQ(one.solutions, 92U);
      EXPECT_EQ(one.placements, alone.placements);
      EXPECT_GT(one.seconds, 0);
    }
  });
}

}  // namespace
