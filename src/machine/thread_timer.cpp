// SPDX-License-Identifier: Apache-2.0
#include "machine/thread_timer.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "shoal/error.hpp"

namespace shoal::machine {

void call_thread_timer(thread_timer& t) noexcept {
  if (const std::uint64_t next = t.act_(t.data_); next != 0) t.arm(next);
}

namespace {

// Of the real-time signals, which the C library and programs take from the other end.
int own_signal() noexcept { return SIGRTMAX - 5; }

thread_local const void* t_interrupted = nullptr;

const void* code_of(const void* context) noexcept {
  const auto& m = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(m.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(m.pc);
#else
#error "where a signal has interrupted this processor is not known here"
#endif
}

void handle(int, siginfo_t* info, void* context) {
  const int kept = errno;
  t_interrupted = code_of(context);
  if (info->si_code == SI_TIMER) call_thread_timer(*static_cast<thread_timer*>(info->si_value.sival_ptr));
  errno = kept;
}

void install_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction how {};
    how.sa_sigaction = handle;
    how.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigfillset(&how.sa_mask);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&how.sa_mask, fault);
    ::sigaction(own_signal(), &how, nullptr);
  });
}

}  // namespace

const void* thread_timer::interrupted() noexcept { return t_interrupted; }

thread_timer::thread_timer(action act, void* data, std::uint64_t first_ns, time of) : act_(act), data_(data) {
  install_once();
  struct sigevent to {};
  to.sigev_notify = SIGEV_THREAD_ID;
  to.sigev_signo = own_signal();
  to.sigev_value.sival_ptr = this;
  to._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  if (::timer_create(of == time::world ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &to, &timer_) != 0)
    throw error(errc::system, fmt::format("the system refuses a timer for a thread: {}; see the limit of pending "
                                          "signals (ulimit -i)",
                                          std::strerror(errno)));
  arm(first_ns);
}

thread_timer::~thread_timer() {
  const int kept = errno;
  sigset_t own, before;
  ::sigemptyset(&own);
  ::sigaddset(&own, own_signal());
  ::pthread_sigmask(SIG_BLOCK, &own, &before);
  ::timer_delete(timer_);
  const timespec now{};  // what was on its way
  while (::sigtimedwait(&own, nullptr, &now) > 0 || errno == EINTR) continue;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = kept;
}

void thread_timer::arm(std::uint64_t ns) noexcept {
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  at.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  if (ns == 0) at.it_value.tv_nsec = 1;
  ::timer_settime(timer_, 0, &at, nullptr);
}

}  // namespace shoal::machine
