// SPDX-License-Identifier: Apache-2.0
#include <taskflow/taskflow.hpp>

#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"

namespace {

using namespace problems::nqueens;

counts place(const board& b, tf::Runtime& here) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
    counts& mine = below.of[placements++];
    const std::uint32_t queen = free & -free;
    if (free == queen)  // the last
      mine = place(b.with(queen), here);
    else
      here.silent_async([&b, &mine, queen](tf::Runtime& child) { mine = place(b.with(queen), child); });
  }
  here.corun_all();
  return below.total(placements);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  m.run([&executor](const problem& p) {
    counts result;
    executor.silent_async([&](tf::Runtime& here) { result = place(p.empty(), here); });
    executor.wait_for_all();
    return result;
  });
  return m.finish();
}
