// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"

namespace {

using namespace problems::nqueens;

counts place(const board& b) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  tbb::task_group group;
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
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](const problem& p) { return place(p.empty()); }); });
  return m.finish();
}
