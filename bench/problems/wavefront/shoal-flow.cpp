// SPDX-License-Identifier: Apache-2.0
// Dependences declared on the tiles' data.
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task_flow.hpp"

namespace {

using namespace problems::wavefront;

void sweep(shoal::task_flow& flow, square& tiles) {
  const unsigned side = tiles.side();
  for (unsigned row = 0; row < side; ++row)
    for (unsigned column = 0; column < side; ++column)
      flow.run(shoal::in(*tiles.above(row, column)), shoal::in(*tiles.left(row, column)),
               shoal::out(*tiles.tile(row, column)), [&tiles, row, column] { tiles.compute(row, column); });
  flow.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] {
    shoal::task_flow flow;
    m.run([&flow](problem& p) {
      for (unsigned i = 0; i < k_sweeps; ++i) sweep(flow, p.tiles);
    });
  });
  return m.finish();
}
