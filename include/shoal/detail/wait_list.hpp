// SPDX-License-Identifier: Apache-2.0
// The tasks that wait at one synchronization object, in order of arrival, and a short lock, the guard, for the list and the
// state of the object. Names of running tasks, for owners of locks.
// Who may call: tasks; what needs the guard says so. The waits switch tasks; the others do not.
// Guarantees: first come, first served. A waiter is on the stack of its task: whoever takes it out of the list wakes
// its task once, and touches neither list nor waiter afterwards. Shown by tests/unit/sched/sync_test.cpp, timed_wait_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

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
    bool shared = false;   // for whoever keeps waiters of two kinds in one list,
    bool granted = false;  // or wakes some that have what they wait for and some that try again
    bool goes_first = false;
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
    if (w.goes_first && first_ != nullptr) {
      w.next = first_;
      first_ = &w;
      return;
    }
    w.next = nullptr;
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
  /// Takes a waiter out, wherever it is; false if it is not there any more. O(waiters before it).
  bool remove(const waiter& w) noexcept {
    waiter* before = nullptr;
    for (waiter* at = first_; at != nullptr; before = at, at = at->next) {
      if (at != &w) continue;
      (before != nullptr ? before->next : first_) = at->next;
      if (last_ == at) last_ = before;
      return true;
    }
    return false;
  }
  bool empty() const noexcept { return first_ == nullptr; }
  waiter* first() const noexcept { return first_; }

  /// Appends the running task, releases the guard and suspends the task until it is woken.
  /// `holder`: the stack of the task that can wake it, where that is known.
  void wait(wait_kind why, const void* object, const void* holder = nullptr) noexcept;
  void wait(waiter& me, wait_kind why, const void* object, const void* holder = nullptr) noexcept;
  /// The same with a limit; false if that has come before the task was woken. Throws std::bad_alloc instead of waiting.
  /// `give_up` is called with the guard held when the limit has come: it removes the waiter if it may go, and says whether
  /// it has. In the end the guard is released, and the task is not in the list.
  using give_up_function = bool (*)(const void* object, waiter&) noexcept;
  bool wait_until(time_limit until, const void* object);
  bool wait_until(waiter& me, time_limit until, const void* object, give_up_function give_up = nullptr);
  static void wake_all(waiter* w) noexcept;

private:
  static void wait_for_guard() noexcept;

  std::atomic<bool> held_{false};  // partners: other tasks that use this object, for a few instructions each
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace shoal::detail
