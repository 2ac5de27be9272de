// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"

namespace {

using namespace problems::nqueens;

counts place(const board& b) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
    counts* const mine = &below.of[placements++];
    const std::uint32_t queen = free & -free;
    if (free == queen) {  // the last
      *mine = place(b.with(queen));
    } else {
#pragma omp task shared(b) firstprivate(mine, queen)
      *mine = place(b.with(queen));
    }
  }
#pragma omp taskwait
  return below.total(placements);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) {
    counts c{};
#pragma omp parallel num_threads(workers)
#pragma omp single
    c = place(p.empty());
    return c;
  });
  return m.finish();
}
