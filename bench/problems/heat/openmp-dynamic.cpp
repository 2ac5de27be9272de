// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/heat/kernel.hpp"

namespace {

using namespace problems::heat;

void sweep(problem& p, unsigned workers) {
  plate& grid = p.grid;
  const std::size_t first = grid.first_row();
  const std::size_t last = grid.last_row();
  for (std::size_t k = 0; k < problem::k_sweeps; ++k) {
#pragma omp parallel for schedule(dynamic, k_grain_rows) num_threads(workers)
    for (std::size_t row = first; row < last; ++row) grid.update_rows(row, row + 1);
    grid.end_sweep();
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { sweep(p, workers); });
  return m.finish();
}
