// SPDX-License-Identifier: Apache-2.0
#include "machine/hardware_counter.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace shoal::machine {
namespace {

std::string explain_missing_counter(int cause) {
  switch (cause) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV: return "the processor, or the virtual machine, shows no counter of TLB misses";
    case EACCES:
    case EPERM:
      return "the system does not allow it (as root: sysctl kernel.perf_event_paranoid=2, or a container's rule)";
    default: return fmt::format("the system refuses the counter: {}", std::strerror(cause));
  }
}

}  // namespace

hardware_counter hardware_counter::of_tlb_misses() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HW_CACHE;
  wanted.config = PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  hardware_counter made;
  made.event_ = descriptor(
      above_standard(static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC))));
  if (!made.event_.open()) made.why_not_ = explain_missing_counter(errno);
  return made;
}

std::optional<std::uint64_t> hardware_counter::count() const noexcept {
  std::array<std::uint64_t, 3> got{};  // the count, the time that it was wanted, the time that it ran
  if (!event_.open() || ::read(event_.number(), got.data(), sizeof got) != static_cast<ssize_t>(sizeof got) ||
      got[2] == 0)
    return std::nullopt;
  if (got[1] == got[2]) return got[0];
  return static_cast<std::uint64_t>(static_cast<double>(got[0]) * static_cast<double>(got[1]) /
                                    static_cast<double>(got[2]));
}

}  // namespace shoal::machine
