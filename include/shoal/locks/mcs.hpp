// SPDX-License-Identifier: Apache-2.0
// The MCS queue lock: first come, first served, and each waiter spins on a word of its own, so that a hand-over touches
// the caches of two threads only. The form that needs no node after lock() has returned: the node of a waiter lies on
// its stack, and who gets the lock takes its successor over into the lock itself.
// Who may call: any thread, or tasks with task_wait. lock() waits as the policy says; the class is ignored.
// Must outlive every unlock() that has begun.
// Mellor-Crummey & Scott (1991); stack-only nodes after Auslander et al., "Enhancement to the MCS lock" (K42).
// Shown by tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include "shoal/detail/wait_cell.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics>
class mcs_lock {
public:
  mcs_lock() = default;
  mcs_lock(const mcs_lock&) = delete;
  mcs_lock& operator=(const mcs_lock&) = delete;

  void lock(unsigned = 0) {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  // Partner of the acquire: the exchange in unlock() that let the last holder go.
  bool try_lock() {
    node* nobody = nullptr;
    return tail_.compare_exchange_strong(nobody, held(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() {
    node* next = next_.load(std::memory_order_acquire);  // partner: wait(), which links its node
    if (next == nullptr) {
      node* only = held();
      if (tail_.compare_exchange_strong(only, nullptr, std::memory_order_release, std::memory_order_relaxed)) return;
      next = linked(next_);
    }
    next->turn.grant();
  }

private:
  struct node {
    typename Atomics::template atomic<node*> next{nullptr};
    detail::wait_cell<Wait, Atomics> turn;
  };

  // The tail of a lock that is held and that nobody waits for: no node has this address.
  node* held() { return reinterpret_cast<node*>(this); }

  // Somebody has made itself the tail and is about to link itself.
  static node* linked(typename Atomics::template atomic<node*>& next) {
    for (unsigned round = 0;; ++round) {
      if (node* n = next.load(std::memory_order_acquire)) return n;  // partner: wait()
      Wait::moment(round);
    }
  }

  [[gnu::noinline]] void wait() {
    node me;
    node* before = tail_.load(std::memory_order_relaxed);
    for (;;) {
      if (before == nullptr) {
        if (try_lock()) return;
        before = tail_.load(std::memory_order_relaxed);
        // Release: whoever queues behind, or finds itself behind, must know the node.
      } else if (tail_.compare_exchange_weak(before, &me, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        break;
      }
    }
    // Partners: unlock() if nobody waited before, linked() in the wait() of the one before otherwise.
    (before == held() ? next_ : before->next).store(&me, std::memory_order_release);
    me.turn.wait();

    // The lock is ours; the node must leave the queue before this stack does.
    node* after = me.next.load(std::memory_order_acquire);
    if (after == nullptr) {
      next_.store(nullptr, std::memory_order_relaxed);
      node* last = &me;
      if (tail_.compare_exchange_strong(last, held(), std::memory_order_release, std::memory_order_relaxed)) return;
      after = linked(me.next);
    }
    next_.store(after, std::memory_order_relaxed);  // for our own unlock()
  }

  typename Atomics::template atomic<node*> tail_{nullptr};  // null: free; held(): held; else the last who waits
  typename Atomics::template atomic<node*> next_{nullptr};  // of the holder
};

}  // namespace shoal
