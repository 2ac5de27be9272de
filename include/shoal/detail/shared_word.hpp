// SPDX-License-Identifier: Apache-2.0
// The word of a shared mutex: how many readers hold it, whether a writer does, whether tasks are queued. While nobody is
// queued, readers and writers only change the word. Queued tasks are granted the lock by the one that releases it last.
// Who may call: any task; functions that say so with the guard of the queue held. Does not switch.
// Guarantees: nobody overtakes the queue. While tasks are queued, exactly one caller gets the duty to grant when the lock
// becomes free, and no queued task goes on before; so none can destroy the mutex under the one that grants. Therefore a
// reader does not count itself before it knows that it may enter.
// Tests: tests/unit/sched/shared_mutex_test.cpp, model: tests/model/shared_mutex_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::detail {

template <class Atomics = lockfree::std_atomics>
class shared_word {
public:
  /// False: somebody holds the lock, or tasks are queued.
  bool enter() {
    std::uint64_t seen = 0;
    return word_.compare_exchange_strong(seen, k_writer, std::memory_order_acquire, std::memory_order_relaxed);
  }
  bool enter_shared() {
    for (std::uint64_t seen = word_.load(std::memory_order_relaxed); (seen & (k_writer | k_queue)) == 0;)
      if (word_.compare_exchange_weak(seen, seen + k_reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    return false;
  }
  /// True: the caller has the duty to grant. Partners: whoever enters or is granted the lock next.
  bool leave() { return (word_.fetch_and(~k_writer, std::memory_order_release) & k_queue) != 0; }
  bool leave_shared() { return word_.fetch_sub(k_reader, std::memory_order_release) == (k_reader | k_queue); }

  /// For assertions and where the guard is held.
  bool held() const { return (word_.load(std::memory_order_relaxed) & k_writer) != 0; }
  bool held_shared() const { return word_.load(std::memory_order_relaxed) >= k_reader; }

  // --- with the guard held ---
  /// Nobody was queued: true if the lock is the caller's. Else it queues, and the holder, which sees that, has the duty:
  /// the mark is never set but where somebody holds the lock and the caller will queue.
  bool enter_or_queue(bool shared) {
    for (std::uint64_t seen = word_.load(std::memory_order_relaxed);;) {
      const bool free = shared ? (seen & k_writer) == 0 : seen == 0;
      const std::uint64_t next = free ? seen + (shared ? k_reader : k_writer) : seen | k_queue;
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return free;
    }
  }
  /// The first in the queue: true if the lock is its own now.
  bool grant() {
    std::uint64_t seen = k_queue;
    return word_.compare_exchange_strong(seen, k_queue | k_writer, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  bool grant_shared() {
    if (held()) return false;
    word_.fetch_add(k_reader, std::memory_order_relaxed);  // whoever grants to a reader has seen what writers wrote
    return true;
  }
  /// The queue is empty from now on.
  void close_queue() { word_.fetch_and(~k_queue, std::memory_order_relaxed); }

private:
  static constexpr std::uint64_t k_writer = 1;
  static constexpr std::uint64_t k_queue = 2;
  static constexpr std::uint64_t k_reader = 4;
  typename Atomics::template atomic<std::uint64_t> word_{0};  // partners: all tasks that use the mutex
};

}  // namespace shoal::detail
