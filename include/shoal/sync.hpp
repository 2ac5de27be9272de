// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion and signalling between the tasks of one node: mutex, condition_variable, semaphore, latch. A task
// that must wait is suspended; its worker runs other tasks. Names and semantics are those of the standard library, so
// std::lock_guard and std::unique_lock work.
// Who may call: tasks only. lock, wait, acquire, arrive_and_wait may switch tasks; the others do not.
// Guarantees: first come, first served; unlock hands the mutex to the longest waiter. A task may hold a mutex during
// any wait. Unlocking a mutex that the caller does not hold ends the program with a message (a child that runs inline
// counts as the task that waits for it). Not for other threads, and not across nodes.
// Shown by tests/unit/sched/sync_test.cpp, tests/stress/sched_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal {

namespace detail {

/// Identifies the stack that the calling task runs on, and the task, but for children that it runs inline.
const void* this_stack() noexcept;

/// A task, also for whoever reads of it when it has ended and another one runs on its stack.
struct task_name {
  const void* stack = nullptr;  // as this_stack() says; nullptr: none
  std::uint64_t number = 0;     // among the tasks of that stack
  bool operator==(const task_name&) const = default;
};
task_name this_task_name() noexcept;

/// The waiting tasks in order of arrival, and a short lock that guards them and the state of the synchronization
/// object.
class wait_list {
public:
  struct waiter {
    suspended* task = nullptr;
    waiter* next = nullptr;
    task_name name{};
  };

  wait_list() = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;
  ~wait_list() { SHOAL_CHECK(first_ == nullptr, "what tasks wait at is destroyed while a task waits"); }

  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) wait_for_guard();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

  // The caller holds the guard:
  void push(waiter& w) noexcept {
    (first_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
  }
  waiter* pop() noexcept {
    waiter* w = first_;
    if (w != nullptr) first_ = w->next;
    return w;
  }
  /// Removes the first waiters, at most `most`, and returns them linked by `next`. Subtracts their number from `most`.
  waiter* take(std::ptrdiff_t& most) noexcept {
    waiter* const taken = first_;
    waiter** end = &first_;
    for (; most > 0 && *end != nullptr; --most) end = &(*end)->next;
    waiter* const rest = *end;
    *end = nullptr;
    first_ = rest;
    return taken == rest ? nullptr : taken;
  }
  /// Removes all waiters and returns them linked by `next`.
  waiter* take_all() noexcept {
    waiter* w = first_;
    first_ = nullptr;
    return w;
  }
  /// Appends the running task, releases the guard and suspends the task until it is woken.
  /// `holder`: the stack of the task that can wake it, where that is known.
  void wait(wait_kind why, const void* object, const void* holder = nullptr) noexcept;
  static void wake_all(waiter* w) noexcept;

private:
  static void wait_for_guard() noexcept;

  std::atomic<bool> held_{false};  // partners: other tasks that use this object, for a few instructions each
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace detail

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
  void release(std::ptrdiff_t n = 1) noexcept {
    SHOAL_ASSERT(n >= 0, "a semaphore is released zero times or more; acquire() makes its count less");
    waiters_.lock();
    detail::wait_list::waiter* w = waiters_.take(n);
    count_ += n;
    waiters_.unlock();
    detail::wait_list::wake_all(w);  // a woken task may destroy the semaphore
  }

private:
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
