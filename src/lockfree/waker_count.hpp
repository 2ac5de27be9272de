// SPDX-License-Identifier: Apache-2.0
// Counts the threads that are inside an object which its owner is about to destroy: a thread that wakes a task of a pool
// from outside may still ring the worker's bell when the woken task, and with it the pool, has already ended.
//   waker:  enter();  publish;  ring;  if (leave()) wake the waiter of the word that has this address;
//   owner:  for (value = close(); waits_for(value); value = look()) wait on word() for value;
// Who may call: enter and leave: any thread; close, look: the owner. Nothing waits, allocates or switches tasks.
// Guarantees: when waits_for() says false, all wakers have left whose enter() the owner can know of: the caller orders
// each enter() before what makes the owner close, as the publication does. leave() is a waker's last access.
// Tests: tests/model/waker_count_test.cpp, tests/stress/promise_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class waker_count {
public:
  // Relaxed: what is published next is a release, and the owner sees this count when it sees that.
  void enter() { count_.fetch_add(k_one, std::memory_order_relaxed); }
  // True: the owner waits for this thread; the object may be gone. Partner of the release: the acquires in close() and
  // look().
  bool leave() { return count_.fetch_add(0 - k_one, std::memory_order_release) == (k_one | k_closed); }

  // Both give the value to wait on.
  std::uint32_t close() { return count_.fetch_or(k_closed, std::memory_order_acquire) | k_closed; }
  std::uint32_t look() const { return count_.load(std::memory_order_acquire); }
  /// Any thread, a hint: whether a waker is inside.
  bool inside() const { return count_.load(std::memory_order_seq_cst) >= k_one; }
  static bool waits_for(std::uint32_t value) { return value != k_closed; }

  // Only for waiting and waking.
  typename Atomics::template atomic<std::uint32_t>& word() { return count_; }

private:
  static constexpr std::uint32_t k_closed = 1;
  static constexpr std::uint32_t k_one = 2;
  typename Atomics::template atomic<std::uint32_t> count_{0};  // partners: wakers from outside, the owner
};

}  // namespace shoal::lockfree
