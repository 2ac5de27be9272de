// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/loop/kernel.hpp"

namespace {

using namespace problems::loop;

void iterate(marks& all, unsigned workers) {
  mark* const at = all.data();
  const std::size_t n = all.size();
#pragma omp parallel for schedule(guided, 1024) num_threads(workers)
  for (std::size_t i = 0; i < n; ++i) iteration(at, i);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { iterate(p.all, workers); });
  return m.finish();
}
