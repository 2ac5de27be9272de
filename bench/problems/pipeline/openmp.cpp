// SPDX-License-Identifier: Apache-2.0
// OpenMP has no pipelines; what comes nearest is a loop with an ordered part, which a thread waits to enter.
#include "bench/problems/harness.hpp"
#include "bench/problems/pipeline/kernel.hpp"

namespace {

using namespace problems::pipeline;

std::uint64_t run(const problem& p, unsigned workers) {
  std::uint64_t checksum = 0;
  const std::uint64_t items = p.items;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(workers)
  for (std::uint64_t i = 0; i < items; ++i) {
    const std::uint64_t x = computed(i, p.rounds);
#pragma omp ordered
    take(checksum, x);
  }
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) { return run(p, workers); });
  return m.finish();
}
