// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::nqueens;

counts place(const board& b) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  shoal::task_group group;
  for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
    counts& mine = below.of[placements++];
    const std::uint32_t queen = free & -free;
    if (free == queen)  // the last
      mine = place(b.with(queen));
    else
      group.run([&b, &mine, queen] { mine = place(b.with(queen)); });
  }
  group.wait();
  return below.total(placements);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](const problem& p) { return place(p.empty()); }); });
  return m.finish();
}
