// SPDX-License-Identifier: Apache-2.0
// Each tile counts its dependences; of two runnable successors one becomes a task, the other runs directly.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;

struct state {
  square& tiles;
  countdown waits;
  tbb::task_group group;
};

void follow(state& s, unsigned row, unsigned column) {
  for (;;) {
    s.tiles.compute(row, column);
    const bool right = s.waits.arrived(row, column + 1);
    const bool down = s.waits.arrived(row + 1, column);
    if (right && down) {
      s.group.run([&s, row, column] { follow(s, row, column + 1); });
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
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    state s{m.problem().tiles, countdown(m.problem().tiles.side()), {}};
    m.run([&s](problem&) {
      for (unsigned i = 0; i < k_sweeps; ++i) {
        follow(s, 0, 0);
        s.group.wait();
      }
    });
  });
  return m.finish();
}
