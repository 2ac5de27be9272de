// SPDX-License-Identifier: Apache-2.0
// Common code of task_graph and task_flow. A strand is a sequence of tasks on one worker; each has made the next one
// ready.
// Who may call: the worker that runs the strand. Switches if a body does.
// Tests: tests/unit/sched/task_graph_test.cpp, tests/unit/sched/task_flow_test.cpp.
#pragma once

#include <cstdint>
#include <exception>

#include "fiber/sanitizer.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/scope.hpp"
#include "shoal/priority.hpp"
#include "shoal/task.hpp"

namespace shoal::sched {

/// Whether no other worker can touch what this one does. ThreadSanitizer must see an order even then.
inline bool alone([[maybe_unused]] const detail::worker_base& w) noexcept {
#if SHOAL_TSAN
  return false;
#else
  return w.siblings == 1;
#endif
}

/// Charges the progress budget for a task of a strand. True: the next one goes to the deque, since the worker's loop
/// must let others run. `next_is_high`: so that other tasks of high priority are no reason.
inline bool gives_way(detail::worker_base& w, bool next_is_high = false) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (static_cast<worker&>(w).spend_turn()) return false;
  if (w.turns < 0) return true;
  w.turns = 0;  // there are urgent tasks: a waiter that runs the strand looks, too, before it goes on
  return !next_is_high;
}

/// Around a strand whose tasks are of the scope `s` or of none.
class strand_scope {
public:
  explicit strand_scope(const detail::scope* s) noexcept {
    const fiber::tsan_ignore_scope ignore;
    entered_ = detail::needs_scope(s);
    if (entered_) [[unlikely]]
      before_ = detail::exchange_scope(s);
  }
  strand_scope(const strand_scope&) = delete;
  strand_scope& operator=(const strand_scope&) = delete;
  ~strand_scope() {
    if (entered_) [[unlikely]]
      detail::exchange_scope(before_);
  }

private:
  const detail::scope* before_ = nullptr;
  bool entered_;
};

/// Spawns `t` with any priority.
inline void spawn_ranked(detail::worker_base& w, detail::task& t, priority p) {
  if (p == priority::normal)
    detail::spawn(w, t);
  else
    detail::spawn_apart(w, t, p);
}

/// Calls `body`, and waits for its asynchronous operations, so that successors see their effects. Passes an exception
/// to `fail`.
template <class Fail, class F>
[[gnu::always_inline]] inline void run_body(Fail&& fail, F&& body) noexcept {
  const std::uint64_t issued = detail::issued_count();
  try {
    body();
  } catch (...) {
    fail(std::current_exception());
  }
  detail::settle(issued);
}

}  // namespace shoal::sched
