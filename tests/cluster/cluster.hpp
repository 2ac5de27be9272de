// SPDX-License-Identifier: Apache-2.0
// Runs a test's body as the main task of jobs of several shapes: numbers of nodes and workers, memory mapped or
// messages only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/job.hpp"
#include "shoal/shoal.hpp"

namespace shoal::test {

struct job_shape {
  unsigned nodes;
  unsigned workers;
  bool direct;
};

inline std::string name_of(const testing::TestParamInfo<job_shape>& info) {
  return std::to_string(info.param.nodes) + "_nodes_" + std::to_string(info.param.workers) + "_workers_" +
         (info.param.direct ? "mapped" : "messages");
}

inline const auto k_all_shapes =
    testing::Values(job_shape{1, 1, true}, job_shape{1, 3, true}, job_shape{2, 1, true}, job_shape{2, 1, false},
                    job_shape{2, 2, false}, job_shape{2, 2, true}, job_shape{4, 1, false}, job_shape{4, 2, false},
                    job_shape{3, 2, true}, job_shape{5, 1, false});

class cluster : public testing::TestWithParam<job_shape> {
protected:
  unsigned nodes() const { return GetParam().nodes; }

  runtime::config config() const {
    auto c = runtime::read_config(runtime::all_settings());
    c.nodes = GetParam().nodes;
    c.workers = GetParam().workers;
    c.direct = GetParam().direct;
    c.pin = false;  // more threads than processors
    c.segment_bytes = std::uint64_t{1} << 30;
    c.most_stacks = 1 << 14;
    return c;
  }
  template <class F>
  void run(F&& main_task) const {
    runtime::run_in_process(config(), [&main_task] { return main_task(), 0; });
  }
};

#define SHOAL_CLUSTER_TESTS(suite) \
  INSTANTIATE_TEST_SUITE_P(shapes, suite, shoal::test::k_all_shapes, shoal::test::name_of)

}  // namespace shoal::test
