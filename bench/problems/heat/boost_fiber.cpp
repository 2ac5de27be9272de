// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/fiber/fiber.hpp>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/heat/kernel.hpp"

namespace {

using namespace problems::heat;

// Boost.Fiber has no loops: one fiber per share of the rows, several shares per thread for load balance.
void sweep(problem& p, unsigned workers) {
  plate& grid = p.grid;
  const std::size_t rows = grid.last_row() - grid.first_row();
  const std::size_t share = std::max(k_grain_rows, (rows + 4 * workers - 1) / (4 * workers));
  std::vector<boost::fibers::fiber> tasks;
  for (std::size_t k = 0; k < problem::k_sweeps; ++k) {
    for (std::size_t first = grid.first_row(); first < grid.last_row(); first += share)
      tasks.emplace_back(
          [&grid, first, last = std::min(first + share, grid.last_row())] { grid.update_rows(first, last); });
    for (boost::fibers::fiber& task : tasks) task.join();
    tasks.clear();
    grid.end_sweep();
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([workers = m.workers()](problem& p) { sweep(p, workers); });
  return m.finish();
}
