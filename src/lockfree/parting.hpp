// SPDX-License-Identifier: Apache-2.0
// The moment at which a waiting task's stack is left. A task that may continue on any worker can be woken while its
// worker still stands on its stack; nobody may continue on the stack before it has been left.
//   the waker: if (parting.wake()) publish the task;
//   the worker that has left the stack: if (!parting.leave()) continue the task;   whoever continues it: arrive();
// Who may call: wake: one thread for each wait; leave: the worker that has left; arrive: who continues. Nothing waits,
// allocates or switches tasks.
// Guarantees: for each wait exactly one of the two continues or publishes the task, and sees what the waker has written
// and the stack as it was left. The other one has no further access.
// Tests: tests/model/parting_test.cpp, tests/stress/movable_test.cpp.
#pragma once

#include <atomic>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class parting {
public:
  // Partners of each other: wake() and leave().
  bool wake() { return state_.exchange(k_woken, std::memory_order_acq_rel) == k_left; }
  bool leave() { return state_.exchange(k_left, std::memory_order_acq_rel) != k_woken; }
  // Relaxed: the next waker learns of the wait later, and in order.
  void arrive() { state_.store(k_here, std::memory_order_relaxed); }

private:
  static constexpr unsigned k_here = 0;
  static constexpr unsigned k_left = 1;
  static constexpr unsigned k_woken = 2;
  typename Atomics::template atomic<unsigned> state_{k_here};  // partners: the waker, the worker that leaves
};

}  // namespace shoal::lockfree
