// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/pipeline/kernel.hpp"
#include "shoal/parallel_pipeline.hpp"
#include "shoal/pool.hpp"

namespace {

using namespace problems::pipeline;

std::uint64_t run(const problem& p) {
  std::uint64_t next = 0;
  std::uint64_t checksum = 0;
  using enum shoal::stage_mode;
  shoal::parallel_pipeline(
      problem::k_tokens,
      shoal::stage<void, std::uint64_t>(serial_in_order, [&](shoal::flow_control& control) {
        if (next == p.items) control.stop();
        return next++;
      }) & shoal::stage<std::uint64_t, std::uint64_t>(parallel, [&p](std::uint64_t x) {
        return computed(x, p.rounds);
      }) & shoal::stage<std::uint64_t, void>(serial_in_order, [&checksum](std::uint64_t x) { take(checksum, x); }));
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run(run); });
  return m.finish();
}
