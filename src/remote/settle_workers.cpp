// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/loop.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {

// What is in flight may lie in the window or the buffers of any worker, for a task that goes on: a loop of one iteration
// that claims to have begun operations on all of them.
void settle_workers() {
  local_loop loop;
  loop.piece = [](const void*, loop_frame& frame) {
    frame.next = frame.end;
    frame.loop->async_workers.store(~std::uint64_t{0}, std::memory_order_relaxed);
  };
  run_loop_here(loop, 0, 1);
}

}  // namespace shoal::detail
