// SPDX-License-Identifier: Apache-2.0
// The moment at which a waiting task's stack is left. A task that may continue on any worker can be woken while its
// worker still stands on its stack; nobody may continue on the stack before it has been left.
//   the waker: if (parting.wake()) publish the task;
//   the worker that has left the stack: if (!parting.leave()) continue the task;   whoever continues it: arrive();
//   who describes the wait: if (parting.look()) { reads the stack;  if (!parting.end_look()) publish the task; }
// Who may call: wake: one thread for each wait; leave: the worker that has left; arrive: who continues; look: one thread
// at a time. Nothing waits, allocates or switches tasks.
// Guarantees: for each wait exactly one of them continues or publishes the task, and sees what the waker has written
// and the stack as it was left. The others have no further access. From look() to end_look() nobody continues the task.
// Tests: tests/model/parting_test.cpp, tests/stress/movable_test.cpp.
#pragma once

#include <atomic>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class parting {
public:
  // Partners of each other: wake(), leave(), look() and end_look().
  bool wake() { return state_.exchange(k_woken, std::memory_order_acq_rel) == k_left; }
  bool leave() {
    unsigned here = k_here;  // a task that was woken is not to look as if it waited
    return state_.compare_exchange_strong(here, k_left, std::memory_order_release, std::memory_order_acquire);
  }
  /// Whether the stack has been left and the task is not woken.
  bool look() {
    unsigned left = k_left;
    return state_.load(std::memory_order_relaxed) == k_left &&
           state_.compare_exchange_strong(left, k_looked_at, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// False: the task was woken meanwhile, and the caller publishes it.
  bool end_look() {
    unsigned looked_at = k_looked_at;
    return state_.compare_exchange_strong(looked_at, k_left, std::memory_order_release, std::memory_order_acquire);
  }
  // Relaxed: the next waker learns of the wait later, and in order.
  void arrive() { state_.store(k_here, std::memory_order_relaxed); }

private:
  static constexpr unsigned k_here = 0;
  static constexpr unsigned k_left = 1;
  static constexpr unsigned k_woken = 2;
  static constexpr unsigned k_looked_at = 3;
  typename Atomics::template atomic<unsigned> state_{k_here};  // partners: the waker, the worker that leaves, who looks
};

}  // namespace shoal::lockfree
