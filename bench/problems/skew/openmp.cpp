// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/skew/kernel.hpp"

namespace {

using namespace problems::skew;

void iterate(problem& p, unsigned workers) {
  const std::size_t n = p.results.size();
#pragma omp parallel for schedule(dynamic, 64) num_threads(workers)
  for (std::size_t i = 0; i < n; ++i) p.iteration(i);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { iterate(p, workers); });
  return m.finish();
}
