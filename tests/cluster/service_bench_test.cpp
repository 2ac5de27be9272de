// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/service.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

class service_bench : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(service_bench);

TEST_P(service_bench, every_request_is_answered_behind_every_kind_of_work) {
  run([] {
    if (shoal::node_count() < 2) return;
    for (const std::string_view kind : shoal::bench::service_kinds()) {
      const auto r = shoal::bench::measure_service(kind, 5'000, 0.03);
      EXPECT_TRUE(r.correct) << kind;
      EXPECT_GT(r.get.count, 0U) << kind;
      EXPECT_GT(r.call.count, 0U) << kind;
    }
  });
}

}  // namespace
