// SPDX-License-Identifier: Apache-2.0
#include "machine/process_memory.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <cerrno>

namespace shoal::machine {

bool read_process_memory(int pid, std::uint64_t address, std::span<std::byte> into) noexcept {
  const int kept = errno;
  while (!into.empty()) {
    iovec to{into.data(), into.size()};
    iovec from{reinterpret_cast<void*>(address), into.size()};
    const ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
    if (got <= 0) {
      errno = kept;
      return false;
    }
    into = into.subspan(static_cast<std::size_t>(got));
    address += static_cast<std::uint64_t>(got);
  }
  errno = kept;
  return true;
}

// Fails where the system does not know it, which then permits it anyway or never.
void permit_memory_reads() noexcept { static_cast<void>(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)); }

}  // namespace shoal::machine
