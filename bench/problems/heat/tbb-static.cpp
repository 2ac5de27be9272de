// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/heat/kernel.hpp"

namespace {

using namespace problems::heat;

void sweep(problem& p) {
  plate& grid = p.grid;
  const tbb::static_partitioner partitioner;
  for (std::size_t k = 0; k < problem::k_sweeps; ++k) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(grid.first_row(), grid.last_row()),
        [&grid](const tbb::blocked_range<std::size_t>& rows) { grid.update_rows(rows.begin(), rows.end()); },
        partitioner);
    grid.end_sweep();
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { sweep(p); }); });
  return m.finish();
}
