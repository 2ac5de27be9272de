// SPDX-License-Identifier: Apache-2.0
// Each tile counts its dependences; of two runnable successors one becomes a fiber, the other runs directly.
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <memory>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

namespace {

using namespace problems::wavefront;

// A quarter of the default, so that malloc reuses stacks instead of mapping each anew.
constexpr std::size_t k_stack_bytes = 32 * 1024;

struct state {
  square& tiles;
  countdown waits;
};

void follow(state& s, unsigned row, unsigned column) {
  std::vector<boost::fibers::fiber> started;
  for (;;) {
    s.tiles.compute(row, column);
    const bool right = s.waits.arrived(row, column + 1);
    const bool down = s.waits.arrived(row + 1, column);
    if (right && down) {
      started.emplace_back(std::allocator_arg, boost::fibers::fixedsize_stack(k_stack_bytes),
                           [&s, row, column] { follow(s, row, column + 1); });
    }
    if (down)
      ++row;
    else if (right)
      ++column;
    else
      break;
  }
  for (boost::fibers::fiber& task : started) task.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  state s{m.problem().tiles, countdown(m.problem().tiles.side())};
  const problems::fiber_pool pool(m.workers());
  m.run([&s](problem&) {
    for (unsigned i = 0; i < k_sweeps; ++i) follow(s, 0, 0);
  });
  return m.finish();
}
