// SPDX-License-Identifier: Apache-2.0
#include "machine/signal_request.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "machine/descriptor.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

std::atomic<int> g_descriptor{-1};  // partner: the handler

void on_request(int) {
  const int saved_errno = errno;
  const std::uint64_t one = 1;
  const int descriptor = g_descriptor.load();
  if (descriptor >= 0 && ::write(descriptor, &one, sizeof one) < 0) {
    // The counter is full, so it is readable all the same.
  }
  errno = saved_errno;
}

}  // namespace

signal_request::signal_request() : descriptor_(above_standard(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (descriptor_ < 0)
    throw error(errc::system, fmt::format("no descriptor for requests: {}; check ulimit -n", std::strerror(errno)));
  struct sigaction before {};
  if (::sigaction(SIGUSR1, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      before.sa_handler != SIG_DFL)
    return;
  g_descriptor.store(descriptor_);
  struct sigaction action {};
  action.sa_handler = on_request;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  installed_ = ::sigaction(SIGUSR1, &action, nullptr) == 0;
}

signal_request::~signal_request() {
  struct sigaction now {};
  if (installed_ && ::sigaction(SIGUSR1, nullptr, &now) == 0 && now.sa_handler == on_request)
    ::signal(SIGUSR1, SIG_DFL);
  g_descriptor.store(-1);
  ::close(descriptor_);
}

bool signal_request::take() noexcept {
  std::uint64_t count = 0;
  return ::read(descriptor_, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

}  // namespace shoal::machine
