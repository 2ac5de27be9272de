// SPDX-License-Identifier: Apache-2.0
// Common code of task_graph and task_flow. A strand is a sequence of tasks on one worker; each has made the next one
// ready.
// Who may call: the worker that runs the strand. Switches if a body does.
// Tests: tests/unit/sched/task_graph_test.cpp, tests/unit/sched/task_flow_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal::sched {

/// After so many tasks the next one goes to the deque, so that the worker's loop looks at messages and at tasks that
/// have been woken.
inline constexpr std::int64_t k_longest_strand = 256;

/// Whether no other worker can touch what this one does. ThreadSanitizer must see an order even then.
inline bool alone([[maybe_unused]] const detail::worker_base& w) noexcept {
#if SHOAL_TSAN
  return false;
#else
  return w.siblings == 1;
#endif
}

/// Whether a strand that has run so many tasks lets others run before its next one.
inline bool gives_way(const detail::worker_base& w, std::int64_t tasks) noexcept {
  return tasks >= k_longest_strand || w.signs->urgent.load(std::memory_order_relaxed) != 0;
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
