// SPDX-License-Identifier: Apache-2.0
// Tasks of one node meet, again and again; as std::barrier:
//   shoal::barrier all(tasks, [&] { ++step; });   ... in each task: compute(); all.arrive_and_wait();
// Who may call: tasks only. wait and arrive_and_wait may switch tasks; the completion runs in the task that arrives last,
// before any task goes on, and must neither wait nor throw.
// Guarantees: what tasks wrote before they arrived is visible after the wait. A task that has gone on may arrive again at
// once. The barrier may be destroyed when all tasks that take part have returned from their last call.
// Limits: tasks that meet must exist at the same time, each with a stack; for the iterations of a loop that may be held
// back (docs/tasks.md) it is no construct. Team members on several nodes: shoal/collectives.hpp.
// Tests: tests/unit/sched/barrier_test.cpp, tests/stress/timed_wait_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "shoal/detail/wait_list.hpp"

namespace shoal {

namespace detail {
struct no_completion {
  void operator()() const noexcept {}
};
}  // namespace detail

template <class Completion = detail::no_completion>
class barrier {
public:
  using arrival_token = std::uint64_t;  // the number of the phase

  explicit barrier(std::ptrdiff_t expected, Completion at_end = {}) noexcept
      : expected_(expected), missing_(expected), at_end_(std::move(at_end)) {
    SHOAL_ASSERT(expected >= 0, "a barrier expects zero tasks or more");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Arrives for `n` tasks; wait(token) waits for the others.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) noexcept {
    waiters_.lock();
    const arrival_token phase = phase_;
    count(n);
    return phase;
  }
  void wait(arrival_token phase) noexcept {
    waiters_.lock();
    if (phase_ != phase) return waiters_.unlock();
    waiters_.wait(detail::wait_kind::barrier, this);
  }
  void arrive_and_wait() noexcept {
    waiters_.lock();
    if (missing_ > 1) {
      --missing_;
      return waiters_.wait(detail::wait_kind::barrier, this);
    }
    count(1);
  }
  /// Arrives, and the barrier expects one task less from the next phase on.
  void arrive_and_drop() noexcept {
    waiters_.lock();
    --expected_;
    count(1);
  }
  /// Whether the phase has ended before the time had passed. The caller has arrived in either case.
  bool wait_for(arrival_token phase, detail::limit_after limit) { return wait_by(phase, limit); }
  bool wait_until(arrival_token phase, detail::limit_at limit) { return wait_by(phase, limit); }

private:
  // With the guard held, which it releases.
  void count(std::ptrdiff_t n) noexcept {
    SHOAL_ASSERT(n >= 0 && n <= missing_, "more tasks arrive at a barrier than it expects in a phase");
    missing_ -= n;
    const bool last = missing_ == 0 && n > 0;
    waiters_.unlock();
    if (!last) return;
    at_end_();  // nobody may arrive now, and nobody has gone on
    waiters_.lock();
    missing_ = expected_;
    ++phase_;
    detail::wait_list::waiter* const w = waiters_.take_all();
    waiters_.unlock();
    detail::wait_list::wake_all(w);
  }
  bool wait_by(arrival_token phase, detail::time_limit until) {
    waiters_.lock();
    if (phase_ == phase) return waiters_.wait_until(until, this);
    waiters_.unlock();
    return true;
  }

  detail::wait_list waiters_;
  std::ptrdiff_t expected_;
  std::ptrdiff_t missing_;
  arrival_token phase_ = 0;
  [[no_unique_address]] Completion at_end_;
};

}  // namespace shoal
