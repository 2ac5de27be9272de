// SPDX-License-Identifier: Apache-2.0
#include "machine/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <shoal/detail/assert.hpp>

namespace shoal::machine {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool register_process() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

}  // namespace

bool can_fence_all() noexcept {
  static const bool can = [] {
    const int saved_errno = errno;
    const bool works = register_process() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    errno = saved_errno;
    return works;
  }();
  return can;
}

void heavy_fence() noexcept {
  const int saved_errno = errno;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool done = can_fence_all() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  // A forked child may have to register anew.
  if (!done && errno == EPERM) done = register_process() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  // Callers have no fences of their own: going on would lose wake-ups.
  SHOAL_ASSERT(done,
               "membarrier(2) is refused although it worked before; install system call filters before the runtime");
  std::atomic_thread_fence(std::memory_order_seq_cst);
  errno = saved_errno;
}

}  // namespace shoal::machine
