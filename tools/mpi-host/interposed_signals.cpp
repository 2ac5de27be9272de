// SPDX-License-Identifier: Apache-2.0
// Signal handlers of ranks. A process has one handler for a signal; where several ranks share it, that is a function here,
// which calls those of ranks: of the rank that has caused the signal (a fault, raise()), else of every rank that has one,
// as when the signal has come from outside or from a timer. Masks of signals are those of workers.
#include <signal.h>

#include <array>
#include <cerrno>

#include "tools/mpi-host/rank_libc.hpp"
#include "tools/mpi-host/rank_sleep.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

using any_handler = void (*)();
using plain_handler = void (*)(int);

any_handler as_any(plain_handler h) noexcept { return reinterpret_cast<any_handler>(h); }

// What a rank has set. Partner of the atomics: call_handlers(), on any thread.
struct kept_action {
  std::atomic<any_handler> handler{as_any(SIG_DFL)};
  std::atomic<int> flags{0};
  sigset_t mask{};
};

struct shared_signal {
  kept_action* ranks = nullptr;  // by their numbers in the process; made at first use
  std::atomic<bool> installed{false};
  struct sigaction before {};  // the process's own
};
std::array<shared_signal, NSIG> all;
std::mutex changing;

using action_function = int(int, const struct sigaction*, struct sigaction*);
action_function* real_sigaction() noexcept {
  static auto* const found = next<action_function>("sigaction");
  return found;
}

bool is_caused_here(int number, const siginfo_t& info) noexcept {
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case SIGPIPE: return true;
    default: return info.si_code == SI_TKILL;
  }
}

void call(any_handler handler, int flags, int number, siginfo_t* info, void* context) {
  if ((flags & SA_SIGINFO) != 0)
    reinterpret_cast<void (*)(int, siginfo_t*, void*)>(handler)(number, info, context);
  else
    reinterpret_cast<plain_handler>(handler)(number);
}

// False: the rank has none, and the signal is not ignored.
bool call_of_rank(kept_action& of, int number, siginfo_t* info, void* context) {
  const any_handler handler = of.handler.load(std::memory_order_acquire);
  if (handler == as_any(SIG_DFL)) return false;
  if (handler == as_any(SIG_IGN)) return true;
  const int flags = of.flags.load(std::memory_order_relaxed);
  if ((flags & static_cast<int>(SA_RESETHAND)) != 0) of.handler.store(as_any(SIG_DFL), std::memory_order_relaxed);
  call(handler, flags, number, info, context);
  return true;
}

// As if no rank had set anything, from now on: it ends the process, mostly.
void act_as_before(shared_signal& s, int number, siginfo_t* info, void* context) {
  real_sigaction()(number, &s.before, nullptr);
  s.installed.store(false, std::memory_order_relaxed);
  if (s.before.sa_handler == SIG_DFL) {
    if (info->si_code <= 0) ::raise(number);  // others are caused again
  } else if (s.before.sa_handler != SIG_IGN) {
    call(as_any(s.before.sa_handler), s.before.sa_flags, number, info, context);
  }
}

void call_handlers(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  shared_signal& s = all[static_cast<std::size_t>(number)];
  if (is_caused_here(number, *info)) {
    const rank_libc* const mine = calling_libc();
    if (mine == nullptr || !call_of_rank(s.ranks[mine->local], number, info, context))
      act_as_before(s, number, info, context);
  } else {
    for (unsigned i = 0; i < ranks_here(); ++i) {
      const any_handler handler = s.ranks[i].handler.load(std::memory_order_acquire);
      call_of_rank(s.ranks[i], number, info, context);
      if (handler == as_any(SIG_DFL) || handler == as_any(SIG_IGN)) continue;
      const bool restarts = (s.ranks[i].flags.load(std::memory_order_relaxed) & SA_RESTART) != 0;
      note_interruption(i, restarts ? interruption::restarts : interruption::ends);
    }
    ring_sleepers();
  }
  errno = saved_errno;
}

// Whether the ranks of this process are to have `number` of their own.
bool is_split(int number) noexcept {
  return number > 0 && number < NSIG && number != SIGKILL && number != SIGSTOP && ranks_here() > 1 &&
         calling_libc() != nullptr && in_own_process();
}

// The process's action, after a rank has changed its own.
void set_process_action(shared_signal& s, int number, const struct sigaction& changed) {
  unsigned set = 0;
  unsigned ignored = 0;
  for (unsigned i = 0; i < ranks_here(); ++i) {
    const any_handler h = s.ranks[i].handler.load(std::memory_order_relaxed);
    set += h != as_any(SIG_DFL) ? 1 : 0;
    ignored += h == as_any(SIG_IGN) ? 1 : 0;
  }
  struct sigaction action = changed;
  action.sa_flags = (changed.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER | SA_NOCLDSTOP)) | SA_SIGINFO;
  action.sa_sigaction = call_handlers;
  if (ignored == ranks_here()) {
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN;
  }
  if (set == 0) action = s.before;
  real_sigaction()(number, &action, nullptr);
  s.installed.store(set != 0, std::memory_order_relaxed);
}

void set_action(int number, const struct sigaction& wanted) {
  shared_signal& s = all[static_cast<std::size_t>(number)];
  // What a handler of the process does to end it, in a rank that has no part in it.
  if (wanted.sa_handler == SIG_DFL && !s.installed.load(std::memory_order_relaxed)) {
    real_sigaction()(number, &wanted, nullptr);
    return;
  }
  if (s.ranks == nullptr) s.ranks = new kept_action[ranks_here()];
  if (!s.installed.load(std::memory_order_relaxed)) real_sigaction()(number, nullptr, &s.before);
  kept_action& mine = s.ranks[calling_libc()->local];
  calling_libc()->has_set_handlers = true;
  mine.mask = wanted.sa_mask;
  mine.flags.store(wanted.sa_flags, std::memory_order_relaxed);
  mine.handler.store(as_any(wanted.sa_handler), std::memory_order_release);
  set_process_action(s, number, wanted);
}

void get_action(int number, struct sigaction& into) {
  const shared_signal& s = all[static_cast<std::size_t>(number)];
  if (!s.installed.load(std::memory_order_relaxed)) {
    real_sigaction()(number, nullptr, &into);
    return;
  }
  const kept_action& mine = s.ranks[calling_libc()->local];
  into = s.before;
  const any_handler handler = mine.handler.load(std::memory_order_relaxed);
  if (handler == as_any(SIG_DFL)) return;
  into.sa_handler = reinterpret_cast<plain_handler>(handler);
  into.sa_flags = mine.flags.load(std::memory_order_relaxed);
  into.sa_mask = mine.mask;
}

plain_handler set_handler(int number, plain_handler handler, int flags) noexcept {
  struct sigaction wanted {};
  struct sigaction old {};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  sigemptyset(&wanted.sa_mask);
  return ::sigaction(number, &wanted, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // namespace

namespace shoal::host {

void forget_handlers(rank_libc& of) {
  if (!of.has_set_handlers) return;
  const std::lock_guard hold(changing);
  for (shared_signal& s : all) {
    if (s.ranks == nullptr) continue;
    std::atomic<any_handler>& mine = s.ranks[of.local].handler;
    if (mine.load(std::memory_order_relaxed) != as_any(SIG_DFL)) mine.store(as_any(SIG_IGN), std::memory_order_release);
  }
}

}  // namespace shoal::host

SHOAL_INTERPOSED int sigaction(int number, const struct sigaction* wanted, struct sigaction* old) noexcept {
  if (!is_split(number)) return real_sigaction()(number, wanted, old);
  const std::lock_guard hold(changing);
  struct sigaction copy {};
  if (wanted != nullptr) copy = *wanted;  // it may be the same object as `old`
  if (old != nullptr) get_action(number, *old);
  if (wanted != nullptr) set_action(number, copy);
  return 0;
}

SHOAL_INTERPOSED plain_handler signal(int number, plain_handler handler) noexcept {
  return set_handler(number, handler, SA_RESTART);
}

// What signal() is for programs that ask for nothing but the standards.
SHOAL_INTERPOSED plain_handler __sysv_signal(int number, plain_handler handler) noexcept {
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
