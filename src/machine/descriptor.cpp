// SPDX-License-Identifier: Apache-2.0
#include "machine/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/clock.hpp"

namespace shoal::machine {

int poll_for(std::span<pollfd> entries, std::int64_t timeout_ns) noexcept {
  const std::uint64_t begin_ns = base::now_ns();
  for (;;) {
    timespec left{};
    if (timeout_ns >= 0) {
      const auto spent_ns = static_cast<std::int64_t>(base::now_ns() - begin_ns);
      const std::int64_t left_ns = std::max<std::int64_t>(0, timeout_ns - spent_ns);
      left.tv_sec = left_ns / 1'000'000'000;
      left.tv_nsec = left_ns % 1'000'000'000;
    }
    const int ready = ::ppoll(entries.data(), entries.size(), timeout_ns >= 0 ? &left : nullptr, nullptr);
    if (ready >= 0 || errno != EINTR) return ready;
  }
}

void open_standard_descriptors() noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. Without /dev, a folder: neither read nor written, but the number is taken.
    if (::open("/dev/null", O_RDWR) < 0) static_cast<void>(::open("/", O_RDONLY | O_DIRECTORY));
  }
}

int above_standard(int number, bool inherit) noexcept {
  if (number < STDIN_FILENO || number > STDERR_FILENO) return number;
  const int higher = ::fcntl(number, inherit ? F_DUPFD : F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int cause = errno;
  ::close(number);
  errno = cause;
  return higher;
}

int open_memory_file(const std::string& name, bool inherit, std::size_t pool_page_bytes) noexcept {
  constexpr unsigned k_mfd_noexec_seal = 8U;  // Linux 6.3
  constexpr unsigned k_mfd_huge_shift = 26U;
  unsigned flags = MFD_ALLOW_SEALING | (inherit ? 0U : MFD_CLOEXEC);
  if (pool_page_bytes != 0)
    flags |= MFD_HUGETLB | static_cast<unsigned>(std::countr_zero(pool_page_bytes)) << k_mfd_huge_shift;
  const int number = ::memfd_create(name.c_str(), flags | k_mfd_noexec_seal);
  const bool refused = number < 0 && errno == EINVAL;
  return above_standard(refused ? ::memfd_create(name.c_str(), flags) : number, inherit);
}

}  // namespace shoal::machine
