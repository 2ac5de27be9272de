// SPDX-License-Identifier: Apache-2.0
// The end of a program is that of its rank: exit(), and what it has registered for its end.
#include <fmt/format.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>

#include "base/log.hpp"
#include "machine/process.hpp"
#include "rank/abi/rank_exit.hpp"
#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

// Returns where no rank ends: outside of ranks. A child that a rank has made has no part in the job, whatever is registered.
void end_rank(int status, rank_end how, const char* function) noexcept {
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return;
  if (!in_own_process()) {
    if (how == rank_end::normal) std::fflush(nullptr);
    shoal::machine::exit_now(status);
  }
  shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me != nullptr && me->exit_to != nullptr) {
    if (mine->ends == rank_end::normal) mine->ends = how;
    me->exit_to->status = status;
    longjmp(me->exit_to->place, 1);
  }
  // The task of the rank runs elsewhere, or is in the loader's hands.
  shoal::base::write_line("", fmt::format("rank {} has called {}({}) in {}, which ends the job; let main() return",
                                          mine->world, function, status, me == nullptr ? "a thread" : "a constructor"));
  std::fflush(nullptr);
  shoal::machine::exit_now(status == 0 ? 1 : status);
}

bool registered(std::vector<exit_handler> rank_libc::*list, const exit_handler& h, void* copy) {
  rank_libc* const mine = calling_libc();
  if (mine == nullptr || mine->copy == nullptr || copy != mine->copy) return false;
  const std::lock_guard hold(mine->mutex);
  (mine->*list).push_back(h);
  return true;
}

using argument_function = void(void*);
using register_function = int(argument_function*, void*, void*);

}  // namespace

SHOAL_INTERPOSED void exit(int status) noexcept {
  SHOAL_NEXT(exit);
  end_rank(status, rank_end::normal, "exit");
  exit_next(status);
  __builtin_unreachable();
}

SHOAL_INTERPOSED void quick_exit(int status) noexcept {
  SHOAL_NEXT(quick_exit);
  end_rank(status, rank_end::quick, "quick_exit");
  quick_exit_next(status);
  __builtin_unreachable();
}

SHOAL_INTERPOSED void _exit(int status) {
  SHOAL_NEXT(_exit);
  end_rank(status, rank_end::at_once, "_exit");
  _exit_next(status);
  __builtin_unreachable();
}

SHOAL_INTERPOSED void _Exit(int status) noexcept {
  SHOAL_NEXT(_Exit);
  end_rank(status, rank_end::at_once, "_Exit");
  _Exit_next(status);
  __builtin_unreachable();
}

// atexit(), and destructors of static objects.
SHOAL_INTERPOSED int __cxa_atexit(argument_function* function, void* argument, void* copy) {
  static auto* const next_one = next<register_function>("__cxa_atexit");
  const exit_handler h{exit_handler::kind::plain, reinterpret_cast<void*>(function), argument};
  return registered(&rank_libc::at_exit, h, copy) ? 0 : next_one(function, argument, copy);
}

SHOAL_INTERPOSED int __cxa_at_quick_exit(void (*function)(), void* copy) {
  static auto* const next_one = next<int(void (*)(), void*)>("__cxa_at_quick_exit");
  const exit_handler h{exit_handler::kind::plain, reinterpret_cast<void*>(function), nullptr};
  return registered(&rank_libc::at_quick_exit, h, copy) ? 0 : next_one(function, copy);
}

SHOAL_INTERPOSED int on_exit(void (*function)(int, void*), void* argument) noexcept {
  SHOAL_NEXT(on_exit);
  const exit_handler h{exit_handler::kind::with_status, reinterpret_cast<void*>(function), argument};
  rank_libc* const mine = calling_libc();
  return mine != nullptr && registered(&rank_libc::at_exit, h, mine->copy) ? 0 : on_exit_next(function, argument);
}

// Destructors of thread-local variables. Those of the rank's own thread end with the rank, not with the worker.
SHOAL_INTERPOSED int __cxa_thread_atexit_impl(argument_function* function, void* argument, void* copy) {
  static auto* const next_one = next<register_function>("__cxa_thread_atexit_impl");
  const exit_handler h{exit_handler::kind::plain, reinterpret_cast<void*>(function), argument};
  if (shoal::rank::current_rank() != nullptr && registered(&rank_libc::at_thread_exit, h, copy)) return 0;
  return next_one(function, argument, copy);
}
