// SPDX-License-Identifier: Apache-2.0
// Dependences declared on the tiles' data.
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;

void sweep(square& tiles) {
  const unsigned side = tiles.side();
  for (unsigned row = 0; row < side; ++row) {
    for (unsigned column = 0; column < side; ++column) {
// clang-format off
#pragma omp task shared(tiles) firstprivate(row, column) \
    depend(in : *tiles.above(row, column), *tiles.left(row, column)) depend(out : *tiles.tile(row, column))
      // clang-format on
      tiles.compute(row, column);
    }
  }
#pragma omp taskwait
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) {
#pragma omp parallel num_threads(workers)
#pragma omp single
    for (unsigned i = 0; i < k_sweeps; ++i) sweep(p.tiles);
  });
  return m.finish();
}
