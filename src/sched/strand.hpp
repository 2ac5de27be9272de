// SPDX-License-Identifier: Apache-2.0
// What task_graph and task_flow share: a strand is a sequence of tasks of which each has made the next one ready, run
// one after the other on one worker.
// Who may call: the worker that runs the strand. Switches if a body does.
// Shown by tests/unit/sched/task_graph_test.cpp, tests/unit/sched/task_flow_test.cpp.
#pragma once

#include <atomic>
#include <exception>

#include "shoal/detail/unwatched.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal::sched {

/// After so many tasks the next one goes to the deque, so that the worker's loop looks at messages and at tasks that
/// have been woken.
inline constexpr unsigned k_longest_strand = 256;

/// Whether no other worker can touch what this one does. ThreadSanitizer must see an order even then.
inline bool alone([[maybe_unused]] const detail::worker_face& w) noexcept {
#if SHOAL_TSAN
  return false;
#else
  return w.siblings == 1;
#endif
}

inline std::uint64_t issued_on(const detail::worker_face& w) noexcept {
  const detail::unwatched quiet;
  return *w.async_issued;
}

/// Calls `body`, and waits for what it began asynchronously, so that whoever depends on it finds it done.
template <class F>
[[gnu::always_inline]] inline void run_body(const detail::worker_face& w, std::atomic<bool>& failed,
                                            detail::first_exception& first, F&& body) noexcept {
  const std::uint64_t issued = issued_on(w);
  try {
    body();
  } catch (...) {
    first.keep(std::current_exception());
    // Relaxed: who must not begin has this from the task's end.
    failed.store(true, std::memory_order_relaxed);
  }
  if (issued_on(w) != issued) [[unlikely]]
    detail::settle(issued);
}

}  // namespace shoal::sched
