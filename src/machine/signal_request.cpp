// SPDX-License-Identifier: Apache-2.0
#include "machine/signal_request.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "machine/descriptor.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

// The process in the upper half, its descriptor in the lower one; 0: none yet. The descriptor is never closed, since a
// handler may write to it at any later time. Partner: the handler.
std::atomic<std::uint64_t> g_target{0};

std::uint64_t target(int process, int descriptor) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(process)) << 32 | static_cast<std::uint32_t>(descriptor);
}
int process_of(std::uint64_t target) noexcept { return static_cast<int>(target >> 32); }
int descriptor_of(std::uint64_t target) noexcept { return static_cast<int>(static_cast<std::uint32_t>(target)); }

void on_request(int number) {
  const int saved_errno = errno;
  const std::uint64_t known = g_target.load();
  if (process_of(known) != ::getpid()) {  // a child made by fork(), which has no request: as without this handler
    ::signal(number, SIG_DFL);
    ::raise(number);
  } else if (const std::uint64_t one = 1; ::write(descriptor_of(known), &one, sizeof one) < 0) {
    // The counter is full, so it is readable all the same.
  }
  errno = saved_errno;
}

// One at a time in a process, so no other thread makes another one.
int own_descriptor() {
  const std::uint64_t known = g_target.load();
  if (process_of(known) == ::getpid()) return descriptor_of(known);
  const int made = above_standard(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made < 0)
    throw error(errc::system, fmt::format("no descriptor for requests: {}; check ulimit -n", std::strerror(errno)));
  g_target.store(target(::getpid(), made));
  return made;
}

}  // namespace

signal_request::signal_request() : descriptor_(own_descriptor()) {
  take();  // what came too late for the request before
  struct sigaction before {};
  if (::sigaction(SIGUSR1, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_handler != on_request))  // on_request: of the process that forked
    return;
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
}

bool signal_request::take() noexcept {
  std::uint64_t count = 0;
  return ::read(descriptor_, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

bool signal_request::send_to(int pid) noexcept {
  std::FILE* const status = std::fopen(fmt::format("/proc/{}/status", pid).c_str(), "re");
  if (status == nullptr) return false;
  unsigned long long caught = 0;
  for (char line[256]; std::fgets(line, sizeof line, status) != nullptr;)
    if (std::sscanf(line, "SigCgt: %llx", &caught) == 1) break;
  std::fclose(status);
  return (caught >> (SIGUSR1 - 1) & 1) != 0 && ::kill(pid, SIGUSR1) == 0;
}

}  // namespace shoal::machine
