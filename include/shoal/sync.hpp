// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion and signalling between the tasks of one node. A task that must wait leaves its worker; the thread
// goes on with others. Names and meaning as in the standard library, so std::lock_guard and std::unique_lock work.
// Who may call: tasks only. lock, wait, acquire, arrive_and_wait may switch tasks; the others do not.
// Guarantees: first come first served; unlock hands the mutex to the longest waiter. May be held over any wait.
// Not for threads outside the runtime, and not across nodes.
// Shown by tests/unit/sched/sync_test.cpp, tests/stress/sched_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal {

namespace detail {

/// Tasks that wait, in order of arrival, and the short lock that guards them and their owner's state.
class wait_list {
public:
  struct waiter {
    suspended* task = nullptr;
    waiter* next = nullptr;
  };

  wait_list() = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;
  ~wait_list() { SHOAL_CHECK(first_ == nullptr, "what tasks wait at is destroyed while a task waits"); }

  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) wait_for_guard();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

  // With the guard held:
  void push(waiter& w) noexcept {
    (first_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
  }
  waiter* pop() noexcept {
    waiter* w = first_;
    if (w != nullptr) first_ = w->next;
    return w;
  }
  /// The first ones, at most `most`, linked by `next`; what is left of `most` is how many were too few.
  waiter* take(std::ptrdiff_t& most) noexcept {
    waiter* const taken = first_;
    waiter** end = &first_;
    for (; most > 0 && *end != nullptr; --most) end = &(*end)->next;
    waiter* const rest = *end;
    *end = nullptr;
    first_ = rest;
    return taken == rest ? nullptr : taken;
  }
  /// All of them, linked by `next`.
  waiter* take_all() noexcept {
    waiter* w = first_;
    first_ = nullptr;
    return w;
  }
  /// Enters the running task, gives up the guard and leaves the worker until somebody wakes it.
  void wait() noexcept;
  static void wake_all(waiter* w) noexcept;

private:
  static void wait_for_guard() noexcept;

  std::atomic<bool> held_{false};  // partners: the other tasks at this object, for a few instructions each
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace detail

class mutex {
public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { SHOAL_CHECK(!locked_, "a mutex is destroyed while a task holds it"); }

  void lock() noexcept {
    waiters_.lock();
    if (!locked_) {
      locked_ = true;
      waiters_.unlock();
    } else {
      waiters_.wait();  // whoever unlocks leaves it locked, for us
    }
  }
  bool try_lock() noexcept {
    const std::lock_guard guard(waiters_);
    return !std::exchange(locked_, true);
  }
  void unlock() noexcept {
    waiters_.lock();
    detail::wait_list::waiter* next = waiters_.pop();
    if (next == nullptr) locked_ = false;
    waiters_.unlock();
    if (next != nullptr) detail::wake(next->task);
  }

private:
  detail::wait_list waiters_;
  bool locked_ = false;
};

class condition_variable {
public:
  /// Unlocks, waits for a notification, locks again. No spurious wake-ups.
  void wait(std::unique_lock<mutex>& lock) noexcept {
    waiters_.lock();
    lock.unlock();
    waiters_.wait();
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
    SHOAL_ASSERT(count >= 0, "a semaphore begins with a count of nought or more");
  }

  void acquire() noexcept {
    waiters_.lock();
    if (count_ > 0) {
      --count_;
      waiters_.unlock();
    } else {
      waiters_.wait();
    }
  }
  bool try_acquire() noexcept {
    const std::lock_guard guard(waiters_);
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  void release(std::ptrdiff_t n = 1) noexcept {
    SHOAL_ASSERT(n >= 0, "a semaphore is released nought times or more; acquire() makes its count less");
    waiters_.lock();
    detail::wait_list::waiter* w = waiters_.take(n);
    count_ += n;
    waiters_.unlock();
    detail::wait_list::wake_all(w);  // who is woken may destroy the semaphore
  }

private:
  detail::wait_list waiters_;
  std::ptrdiff_t count_;
};

class latch {
public:
  explicit latch(std::ptrdiff_t expected) noexcept : left_(expected) {
    SHOAL_ASSERT(expected >= 0, "a latch expects nought or more");
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
      waiters_.wait();
  }
  void arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
    // At once: a latch that is open may be destroyed by whoever has waited.
    waiters_.lock();
    count(n);
    if (left_ != 0) return waiters_.wait();
    detail::wait_list::waiter* w = waiters_.take_all();
    waiters_.unlock();
    detail::wait_list::wake_all(w);
  }

private:
  void count(std::ptrdiff_t n) noexcept {
    SHOAL_ASSERT(n >= 0 && n <= left_,
                 "a latch is counted down below nought, or up; it expects as many as it was told");
    left_ -= n;
  }

  detail::wait_list waiters_;
  std::ptrdiff_t left_;
};

/// While it lives, the running task must not wait: checked builds stop with a sentence if it does. Put it beside a lock
/// that blocks the thread (std::mutex): such a lock held over a wait may stop the worker for ever.
class no_wait {
public:
  no_wait() noexcept { ++detail::worker_here().no_wait_scopes; }
  ~no_wait() { --detail::t_worker->no_wait_scopes; }
  no_wait(const no_wait&) = delete;
  no_wait& operator=(const no_wait&) = delete;
};

}  // namespace shoal
