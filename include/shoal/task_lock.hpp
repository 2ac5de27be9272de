// SPDX-License-Identifier: Apache-2.0
// Locks for tasks. task_wait is the wait policy with which any lock of shoal/locks.hpp can be used by tasks: the
// waiting task is suspended, and the worker runs other tasks. task_lock adds a local queue: the tasks of one worker
// hand the lock to each other by switching, at most `bound` times in a row, without writing to memory that other
// workers read.
// Who may call: tasks of one pool. lock() may switch tasks; so may unlock() of a task_lock when it hands the lock to a
// task of this worker. May be held over any wait; a movable task that has moved meanwhile goes back to release it, so not
// within a loop that it has begun since. shoal::mutex (sync.hpp) costs less if contention is rare.
// Guarantees: first-in, first-out among the tasks of a worker; among workers the order of the underlying lock.
// Test: tests/unit/sched/task_lock_test.cpp, tests/stress/task_lock_test.cpp.
#pragma once

#include <memory>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/leaving_wait.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/locks/mcs.hpp"
#include "shoal/task.hpp"

namespace shoal {

namespace detail {
/// As wake(), for a task of this worker: switches to it at once.
void switch_to(suspended* s) noexcept;
/// Moves the calling task, which is movable, to a worker of its pool. Ends the program if it is not, or in a loop.
void return_to_worker(unsigned index) noexcept;
void wait_a_moment(unsigned round) noexcept;
}  // namespace detail

struct task_wait {
  using task = detail::suspended*;
  static task self() noexcept { return detail::this_task(); }
  static void leave(const void* lock) noexcept { detail::leave(detail::wait_kind::lock, lock); }
  static void wake(task t) noexcept { detail::wake(t); }
  static void back_off(unsigned) noexcept {}
  static void moment(unsigned round) noexcept { detail::wait_a_moment(round); }
  static void give_way(unsigned) noexcept { yield(); }
  static std::size_t place() noexcept { return detail::worker_here().index; }
};

template <class Lock = mcs_lock<task_wait>>
class task_lock {
public:
  static constexpr unsigned k_bound = 64;

  /// Must be called by a task; the lock is then for the workers of its pool. `arguments` go to the underlying lock.
  template <class... Arguments>
  explicit task_lock(unsigned bound = k_bound, Arguments&&... arguments)
      : lock_(std::forward<Arguments>(arguments)...),
        bound_(bound),
        count_(detail::worker_here().siblings),
        places_(std::make_unique<place[]>(count_)) {}
  task_lock(const task_lock&) = delete;
  task_lock& operator=(const task_lock&) = delete;

  void lock(unsigned cls = 0) noexcept {
    waiter me;
    if (queues_here(me)) {
      detail::leave(detail::wait_kind::lock, &lock_);
      if (!me.asks) return;  // a task of this worker has handed over the lock
    }
    lock_.lock(cls);
    note_worker();
  }

  bool try_lock() noexcept {
    const detail::tsan_ignore_scope ignore;
    place& p = here();
    if (p.wanted) return false;
    p.wanted = lock_.try_lock();
    if (p.wanted) note_worker();
    return p.wanted;
  }

  void unlock() noexcept {
    if (detail::worker_here().index != worker_) [[unlikely]]
      detail::return_to_worker(worker_);
    detail::suspended* next = nullptr;
    if (hands_over_here(next)) {
      detail::switch_to(next);
    } else {
      lock_.unlock();
      if (next != nullptr) detail::wake(next);  // it acquires the underlying lock for this worker
    }
  }

private:
  struct waiter {
    detail::suspended* task = nullptr;
    waiter* next = nullptr;
    bool asks = false;  // must acquire the underlying lock itself
  };
  // Accessed by its own worker only.
  struct alignas(lockfree::k_cache_line_bytes) place {
    bool wanted = false;  // a task of this worker holds the lock, or waits for the underlying lock
    unsigned passed = 0;  // hand-overs in a row
    waiter* first = nullptr;
    waiter* last = nullptr;
  };

  place& here() noexcept {
    const unsigned index = detail::worker_here().index;
    SHOAL_ASSERT(index < count_, "this task_lock belongs to another pool");
    return places_[index];
  }

  // By the owner. Written only if it changes, since other workers' tasks wait beside it.
  void note_worker() noexcept {
    const detail::tsan_ignore_scope ignore;
    const unsigned index = detail::worker_here().index;
    if (worker_ != index) worker_ = index;
  }

  bool queues_here(waiter& me) noexcept {
    const detail::tsan_ignore_scope ignore;
    place& p = here();
    if (!std::exchange(p.wanted, true)) return false;
    me.task = detail::this_task();
    (p.first == nullptr ? p.first : p.last->next) = &me;
    p.last = &me;
    return true;
  }

  // True: `next` owns the lock now. False: the caller must release the underlying lock, and `next`, if any, must
  // acquire it.
  bool hands_over_here(detail::suspended*& next) noexcept {
    const detail::tsan_ignore_scope ignore;
    place& p = here();
    waiter* const first = p.first;
    if (first == nullptr) {
      p.wanted = false;
      p.passed = 0;
      return false;
    }
    p.first = first->next;
    next = first->task;
    first->asks = p.passed >= bound_;
    p.passed = first->asks ? 0 : p.passed + 1;
    return !first->asks;
  }

  Lock lock_;
  const unsigned bound_;
  const unsigned count_;
  std::unique_ptr<place[]> places_;
  unsigned worker_ = ~0U;  // of the owner, when it locked
};

}  // namespace shoal
