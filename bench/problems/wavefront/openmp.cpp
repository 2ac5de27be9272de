// SPDX-License-Identifier: Apache-2.0
// Each tile counts its dependences; of two runnable successors one becomes a task, the other runs directly.
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;

struct state {
  square& tiles;
  countdown waits;
};

void follow(state& s, unsigned row, unsigned column) {
  for (;;) {
    s.tiles.compute(row, column);
    const bool right = s.waits.arrived(row, column + 1);
    const bool down = s.waits.arrived(row + 1, column);
    if (right && down) {
#pragma omp task shared(s) firstprivate(row, column)
      follow(s, row, column + 1);
    }
    if (down)
      ++row;
    else if (right)
      ++column;
    else
      break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  state s{m.problem().tiles, countdown(m.problem().tiles.side())};
  m.run([&s, workers = m.workers()](problem&) {
#pragma omp parallel num_threads(workers)
#pragma omp single
    for (unsigned i = 0; i < k_sweeps; ++i) {
#pragma omp taskgroup
      follow(s, 0, 0);
    }
  });
  return m.finish();
}
