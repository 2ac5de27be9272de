// SPDX-License-Identifier: Apache-2.0
// Each tile counts its dependences; of two runnable successors one becomes a task, the other runs directly.
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::wavefront;

struct state {
  square& tiles;
  countdown waits;
};

// A group belongs to one task, so each chain of tiles waits for the chains that it started.
void follow(state& s, unsigned row, unsigned column) {
  shoal::task_group started;
  for (;;) {
    s.tiles.compute(row, column);
    const bool right = s.waits.arrived(row, column + 1);
    const bool down = s.waits.arrived(row + 1, column);
    if (right && down) {
      started.run([&s, row, column] { follow(s, row, column + 1); });
    }
    if (down)
      ++row;
    else if (right)
      ++column;
    else
      break;
  }
  started.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  state s{m.problem().tiles, countdown(m.problem().tiles.side())};
  shoal::pool pool(m.workers());
  pool.run([&] {
    m.run([&s](problem&) {
      for (unsigned i = 0; i < k_sweeps; ++i) follow(s, 0, 0);
    });
  });
  return m.finish();
}
