// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/pipeline/kernel.hpp"

namespace {

using namespace problems::pipeline;

std::uint64_t run(const problem& p) {
  std::uint64_t next = 0;
  std::uint64_t checksum = 0;
  using tbb::filter_mode;
  tbb::parallel_pipeline(
      problem::k_tokens,
      tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order, [&](tbb::flow_control& control) {
        if (next == p.items) control.stop();
        return next++;
      }) & tbb::make_filter<std::uint64_t, std::uint64_t>(filter_mode::parallel, [&p](std::uint64_t x) {
        return computed(x, p.rounds);
      }) & tbb::make_filter<std::uint64_t, void>(filter_mode::serial_in_order, [&checksum](std::uint64_t x) {
        take(checksum, x);
      }));
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run(run); });
  return m.finish();
}
