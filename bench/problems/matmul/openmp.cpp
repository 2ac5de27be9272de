// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/matmul/kernel.hpp"

namespace {

using namespace problems::matmul;

void multiply(problem& p, unsigned workers) {
  const std::size_t tiles = p.tiles();
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(workers)
  for (std::size_t i = 0; i < tiles; ++i)
    for (std::size_t j = 0; j < tiles; ++j) multiply_tile(p.a, p.b, p.c, i, j);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { multiply(p, workers); });
  return m.finish();
}
