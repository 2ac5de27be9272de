// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/flat/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using namespace problems::flat;

// Its library may run a task at once where it would be deferred, so as to bound their number.
void spawn_all(std::uint64_t tasks, unsigned workers) {
#pragma omp parallel num_threads(workers)
#pragma omp single
  for (std::uint64_t i = 0; i < tasks; ++i) {
#pragma omp task
    counts::task_ran();
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) { spawn_all(p.tasks, workers); });
  return m.finish();
}
