// SPDX-License-Identifier: Apache-2.0
// Common code of task_graph and task_flow. A strand is a sequence of tasks on one worker; each has made the next one
// ready.
// Who may call: the worker that runs the strand. Switches if a body does.
// Tests: tests/unit/sched/task_graph_test.cpp, tests/unit/sched/task_flow_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "fiber/sanitizer.hpp"
#include "sched/worker.hpp"
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

/// Charges the progress budget for a task of a strand. True: the next one goes to the deque, since the worker's loop must
/// let others run.
inline bool gives_way(detail::worker_base& w) noexcept {
  const fiber::tsan_ignore_scope ignore;
  return !static_cast<worker&>(w).spend_turn();
}

/// Calls `body`, and waits for its asynchronous operations, so that successors see their effects.
template <class F>
[[gnu::always_inline]] inline void run_body(std::atomic<bool>& failed, detail::completion& ended, F&& body) noexcept {
  const std::uint64_t issued = detail::issued_count();
  try {
    body();
  } catch (...) {
    ended.fail(std::current_exception());
    // Relaxed: who must not begin has this from the task's end.
    failed.store(true, std::memory_order_relaxed);
  }
  detail::settle(issued);
}

}  // namespace shoal::sched
