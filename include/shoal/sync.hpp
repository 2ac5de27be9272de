// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion and signalling between the tasks of one node: mutex, condition_variable, semaphore, latch. A task
// that must wait is suspended; its worker runs other tasks. Names and semantics are those of the standard library, so
// std::lock_guard and std::unique_lock work. Waits may have a limit:
//   if (guard.try_lock_for(std::chrono::milliseconds(10))) ...
// Who may call: tasks only. lock, wait, acquire, arrive_and_wait and the timed functions may switch tasks; the others do not.
// Guarantees: first come, first served; unlock hands the mutex to the longest waiter. A task may hold a mutex during
// any wait. Unlocking a mutex that the caller does not hold ends the program with a message (a child that runs inline
// counts as the task that waits for it). Not for other threads, and not across nodes. A timed wait ends at its limit or
// later, as in shoal/sleep.hpp, and costs O(waiters before it) then; the object must live until it has returned.
// Shown by tests/unit/sched/sync_test.cpp, timed_wait_test.cpp, tests/stress/sched_test.cpp.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/wait_list.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal {

class mutex {
public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { SHOAL_CHECK(holder_.stack == nullptr, "a mutex is destroyed while a task holds it"); }

  void lock() noexcept {
    const detail::task_name me = detail::this_task_name();
    waiters_.lock();
    if (holder_.stack == nullptr) {
      holder_ = me;
      waiters_.unlock();
    } else {
      waiters_.wait(detail::wait_kind::mutex, this, holder_.stack);  // the unlocking task gives it to this one
    }
  }
  bool try_lock() noexcept {
    const detail::task_name me = detail::this_task_name();
    const std::lock_guard guard(waiters_);
    if (holder_.stack != nullptr) return false;
    holder_ = me;
    return true;
  }
  /// Whether it has been locked before the time had passed.
  bool try_lock_for(detail::limit_after limit) { return lock_until(limit); }
  bool try_lock_until(detail::limit_at limit) { return lock_until(limit); }
  void unlock() noexcept {
    const detail::task_name me = detail::this_task_name();
    waiters_.lock();
    SHOAL_ASSERT(holder_ == me,
                 holder_.stack == nullptr
                     ? "a mutex is unlocked that no task holds; lock() it first"
                     : "a mutex is unlocked that another task holds; the task that locked it unlocks it");
    detail::wait_list::waiter* next = waiters_.pop();
    holder_ = next == nullptr ? detail::task_name() : next->name;
    waiters_.unlock();
    if (next != nullptr) detail::wake(next->task);
  }

  /// For reports: the task that holds it, if any. It may have ended without unlocking.
  detail::task_name holder() noexcept {
    const std::lock_guard guard(waiters_);
    return holder_;
  }

private:
  bool lock_until(detail::time_limit until) {
    const detail::task_name me = detail::this_task_name();
    waiters_.lock();
    if (holder_.stack != nullptr) return waiters_.wait_until(until, this);
    holder_ = me;
    waiters_.unlock();
    return true;
  }

  detail::wait_list waiters_;
  detail::task_name holder_;
};

class condition_variable {
public:
  /// Unlocks, waits for a notification, locks again. No spurious wake-ups.
  void wait(std::unique_lock<mutex>& lock) noexcept {
    waiters_.lock();
    lock.unlock();
    waiters_.wait(detail::wait_kind::condition, this);
    lock.lock();
  }
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  /// The same with a limit; a notification that comes with it counts.
  std::cv_status wait_for(std::unique_lock<mutex>& lock, detail::limit_after limit) { return wait_by(lock, limit); }
  std::cv_status wait_until(std::unique_lock<mutex>& lock, detail::limit_at limit) { return wait_by(lock, limit); }
  /// Returns what ready() says at the end.
  template <class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, detail::limit_after limit, Predicate ready) {
    return wait_by(lock, limit, ready);
  }
  template <class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, detail::limit_at limit, Predicate ready) {
    return wait_by(lock, limit, ready);
  }
  void notify_one() noexcept {
    waiters_.lock();
    detail::wait_list::waiter* w = waiters_.pop();
    waiters_.unlock();
    if (w != nullptr) detail::wake(w->task);
  }
  void notify_all() noexcept {
    waiters_.lock();
    detail::wait_list::waiter* w = waiters_.take_all();
    waiters_.unlock();
    detail::wait_list::wake_all(w);
  }

private:
  std::cv_status wait_by(std::unique_lock<mutex>& lock, detail::time_limit until) {
    struct relock {
      std::unique_lock<mutex>& of;
      ~relock() { of.lock(); }
    };
    waiters_.lock();
    lock.unlock();
    const relock at_end{lock};
    return waiters_.wait_until(until, this) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Predicate>
  bool wait_by(std::unique_lock<mutex>& lock, detail::time_limit until, Predicate& ready) {
    while (!ready())
      if (wait_by(lock, until) == std::cv_status::timeout) return ready();
    return true;
  }

  detail::wait_list waiters_;
};

class semaphore {
public:
  explicit semaphore(std::ptrdiff_t count) noexcept : count_(count) {
    SHOAL_ASSERT(count >= 0, "a semaphore begins with a count of zero or more");
  }

  void acquire() noexcept {
    waiters_.lock();
    if (count_ > 0) {
      --count_;
      waiters_.unlock();
    } else {
      waiters_.wait(detail::wait_kind::semaphore, this);
    }
  }
  bool try_acquire() noexcept {
    const std::lock_guard guard(waiters_);
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  /// Whether the count was taken before the time had passed.
  bool try_acquire_for(detail::limit_after limit) { return acquire_until(limit); }
  bool try_acquire_until(detail::limit_at limit) { return acquire_until(limit); }
  void release(std::ptrdiff_t n = 1) noexcept {
    SHOAL_ASSERT(n >= 0, "a semaphore is released zero times or more; acquire() makes its count less");
    waiters_.lock();
    detail::wait_list::waiter* w = waiters_.take(n);
    count_ += n;
    waiters_.unlock();
    detail::wait_list::wake_all(w);  // a woken task may destroy the semaphore
  }

private:
  bool acquire_until(detail::time_limit until) {
    waiters_.lock();
    if (count_ == 0) return waiters_.wait_until(until, this);
    --count_;
    waiters_.unlock();
    return true;
  }

  detail::wait_list waiters_;
  std::ptrdiff_t count_;
};

class latch {
public:
  explicit latch(std::ptrdiff_t expected) noexcept : left_(expected) {
    SHOAL_ASSERT(expected >= 0, "a latch expects zero or more");
  }

  void count_down(std::ptrdiff_t n = 1) noexcept {
    waiters_.lock();
    count(n);
    detail::wait_list::waiter* w = left_ == 0 ? waiters_.take_all() : nullptr;
    waiters_.unlock();
    detail::wait_list::wake_all(w);
  }
  bool try_wait() noexcept {
    const std::lock_guard guard(waiters_);
    return left_ == 0;
  }
  void wait() noexcept {
    waiters_.lock();
    if (left_ == 0)
      waiters_.unlock();
    else
      waiters_.wait(detail::wait_kind::latch, this);
  }
  /// Whether it has opened before the time had passed.
  bool wait_for(detail::limit_after limit) { return wait_by(limit); }
  bool wait_until(detail::limit_at limit) { return wait_by(limit); }
  void arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
    // In one step: a task that has waited may destroy an open latch.
    waiters_.lock();
    count(n);
    if (left_ != 0) return waiters_.wait(detail::wait_kind::latch, this);
    detail::wait_list::waiter* w = waiters_.take_all();
    waiters_.unlock();
    detail::wait_list::wake_all(w);
  }

private:
  bool wait_by(detail::time_limit until) {
    waiters_.lock();
    if (left_ != 0) return waiters_.wait_until(until, this);
    waiters_.unlock();
    return true;
  }
  void count(std::ptrdiff_t n) noexcept {
    SHOAL_ASSERT(n >= 0 && n <= left_, "a latch is counted down below zero, or up; it expects as many as it was told");
    left_ -= n;
  }

  detail::wait_list waiters_;
  std::ptrdiff_t left_;
};

/// During its lifetime the running task must not wait; checked builds stop with a message if it does. Use it with a
/// lock that blocks the thread (std::mutex): a task that waits while it holds such a lock can block the worker without
/// end.
class no_wait {
public:
  no_wait() noexcept { ++detail::worker_here().no_wait_scopes; }
  ~no_wait() { --detail::t_worker->no_wait_scopes; }
  no_wait(const no_wait&) = delete;
  no_wait& operator=(const no_wait&) = delete;
};

}  // namespace shoal
