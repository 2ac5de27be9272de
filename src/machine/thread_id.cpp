// SPDX-License-Identifier: Apache-2.0
#include "machine/thread_id.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/thread_value.hpp"

namespace shoal::machine {

namespace {

thread_local constinit std::uint32_t t_id = 0;
thread_local constinit std::span<const std::byte> t_stack;  // if the system does not know it
const base::thread_value k_stack_of_thread(+[]() noexcept { return &t_stack; });

[[gnu::noinline, gnu::cold]] void ask() noexcept {
  // The only thread of a forked child has another number than its parent's thread.
  static const int forgotten_in_children = ::pthread_atfork(nullptr, nullptr, [] { t_id = 0; });
  static_cast<void>(forgotten_in_children);
  t_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

}  // namespace

std::uint32_t thread_id() noexcept {
  if (t_id == 0) [[unlikely]]
    ask();
  return t_id;
}

bool thread_lives(std::uint32_t id) noexcept {
  const int saved_errno = errno;
  const bool lives = ::syscall(SYS_tgkill, ::getpid(), id, 0) == 0;
  errno = saved_errno;
  return lives;
}

std::string thread_name(std::uint32_t id) {
  std::string name;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(id) + "/comm"), name);
  return name;
}

void set_own_stack(std::span<const std::byte> stack) noexcept { t_stack = stack; }

std::span<const std::byte> own_stack() noexcept {
  if (!t_stack.empty()) return t_stack;
  // Of the first thread the C library would read the whole list of mappings.
  if (::syscall(SYS_gettid) == ::getpid()) return {};
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* bottom = nullptr;
  std::size_t bytes = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &bottom, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!known) return {};
  return {static_cast<const std::byte*>(bottom), bytes};
}

const std::byte* own_stack_bottom() noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (const auto stack = own_stack(); !stack.empty()) return stack.data();
  if (::syscall(SYS_gettid) != ::getpid()) return here;
  constexpr std::size_t k_usual = std::size_t{8} << 20;
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const std::size_t allowed = std::min(known ? static_cast<std::size_t>(limit.rlim_cur) : k_usual, k_usual);
  return here - allowed / 2;
}

// On Linux the nice value belongs to a thread, although POSIX says: to a process.
int nice_value() noexcept { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread_id())); }
bool set_nice_value(int value) noexcept {
  return ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread_id()), value) == 0;
}

unsigned current_processor() noexcept {
  const int now = ::sched_getcpu();
  return now < 0 ? 0 : static_cast<unsigned>(now);
}

}  // namespace shoal::machine
