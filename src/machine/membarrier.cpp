// SPDX-License-Identifier: Apache-2.0
#include "machine/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <shoal/detail/assert.hpp>

#include "machine/memory_info.hpp"

namespace shoal::machine {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool register_process() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

// Taking the right to write from a page that has been written makes the kernel interrupt every core that runs a thread
// of this process, to have it forget the page; an interrupt is a full fence.
void interrupt_all_cores() noexcept {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static void* const page = ::mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SHOAL_ASSERT(page != MAP_FAILED, "a page for fences");
  const bool writable = ::mprotect(page, page_size(), PROT_READ | PROT_WRITE) == 0;
  SHOAL_ASSERT(writable, "a writable page for fences");
  *static_cast<volatile char*>(page) = 1;
  const bool done = ::mprotect(page, page_size(), PROT_READ) == 0;
  SHOAL_ASSERT(done, "a protected page for fences");
}

}  // namespace

void heavy_fence() noexcept {
  const int saved_errno = errno;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  static const bool registered = register_process();
  bool done = registered && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  // A forked child may have to register anew.
  if (!done && registered && errno == EPERM) done = register_process() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  if (!done) interrupt_all_cores();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  errno = saved_errno;
}

}  // namespace shoal::machine
