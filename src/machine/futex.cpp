// SPDX-License-Identifier: Apache-2.0
#include "machine/futex.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace shoal::machine {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

std::uint32_t* address_of(std::atomic<std::uint32_t>& word) noexcept { return reinterpret_cast<std::uint32_t*>(&word); }

}  // namespace

futex_result futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                        bool shared) noexcept {
  const int saved_errno = errno;
  timespec limit{};
  if (timeout_ns >= 0) {
    limit.tv_sec = static_cast<std::time_t>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  }
  const int operation = shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE;
  const long rc =
      ::syscall(SYS_futex, address_of(word), operation, expected, timeout_ns >= 0 ? &limit : nullptr, nullptr, 0);
  const int cause = rc == 0 ? 0 : errno;
  errno = saved_errno;
  if (cause == EAGAIN) return futex_result::changed;
  if (cause == ETIMEDOUT) return futex_result::timeout;
  return futex_result::woken;
}

int futex_wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept {
  const int saved_errno = errno;
  const int operation = shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;
  const long rc = ::syscall(SYS_futex, address_of(word), operation, count, nullptr, nullptr, 0);
  errno = saved_errno;
  return rc > 0 ? static_cast<int>(rc) : 0;
}

void yield_processor() noexcept { ::sched_yield(); }

}  // namespace shoal::machine
