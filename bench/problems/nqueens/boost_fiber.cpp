// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <memory>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"

namespace {

using namespace problems::nqueens;

// A quarter of the default, so that malloc reuses stacks instead of mapping each anew.
constexpr std::size_t k_stack_bytes = 32 * 1024;

counts place(const board& b) {
  if (b.full()) return {1, 0};
  row_counts below;
  unsigned placements = 0;
  std::array<boost::fibers::fiber, problem::k_most> tasks;
  for (std::uint32_t free = b.free(); free != 0; free &= free - 1) {
    counts& mine = below.of[placements];
    const std::uint32_t queen = free & -free;
    if (free == queen) {  // the last
      mine = place(b.with(queen));
    } else {
      tasks[placements] = boost::fibers::fiber(std::allocator_arg, boost::fibers::fixedsize_stack(k_stack_bytes),
                                               [&b, &mine, queen] { mine = place(b.with(queen)); });
    }
    ++placements;
  }
  for (boost::fibers::fiber& task : tasks)
    if (task.joinable()) task.join();
  return below.total(placements);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](const problem& p) { return place(p.empty()); });
  return m.finish();
}
