// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/heat/kernel.hpp"
#include "shoal/loop.hpp"
#include "shoal/partition.hpp"
#include "shoal/pool.hpp"
#include "shoal/range.hpp"

namespace {

using namespace problems::heat;

void sweep(problem& p) {
  plate& grid = p.grid;
  constexpr shoal::static_partitioner partitioner;
  for (std::size_t k = 0; k < problem::k_sweeps; ++k) {
    shoal::parallel_for(
        shoal::range1d(grid.first_row(), grid.last_row()),
        [&grid](const shoal::range1d& rows) { grid.update_rows(rows.begin(), rows.end()); }, partitioner);
    grid.end_sweep();
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { sweep(p); }); });
  return m.finish();
}
