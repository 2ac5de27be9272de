// SPDX-License-Identifier: Apache-2.0
// The MCS queue lock: first-in, first-out; each waiter spins on its own word, so a hand-over touches the caches of two
// threads only. This form needs no node after lock() has returned: a waiter's node is on its stack, and a new owner
// copies its successor into the lock.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored. Must
// outlive every unlock() that has begun.
// Mellor-Crummey & Scott (1991); stack-only nodes after Auslander et al., "Enhancement to the MCS lock" (K42).
// Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
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
  // Partner of the acquire: the exchange in unlock() that released the lock.
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

  // The tail of a held lock without waiters: no node has this address.
  node* held() { return reinterpret_cast<node*>(this); }

  // Waits until the thread that became the tail has linked its node.
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
        // Release and acquire: the successor must see this node, and this thread must see its predecessor's.
      } else if (tail_.compare_exchange_weak(before, &me, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        break;
      }
    }
    // Partners: unlock() if there was no earlier waiter; otherwise linked() in the predecessor's wait().
    (before == held() ? next_ : before->next).store(&me, std::memory_order_release);
    me.turn.wait(this);

    // The lock is acquired; the node must leave the queue before this stack frame ends.
    node* after = me.next.load(std::memory_order_acquire);
    if (after == nullptr) {
      next_.store(nullptr, std::memory_order_relaxed);
      node* last = &me;
      if (tail_.compare_exchange_strong(last, held(), std::memory_order_release, std::memory_order_relaxed)) return;
      after = linked(me.next);
    }
    next_.store(after, std::memory_order_relaxed);  // read by our own unlock()
  }

  typename Atomics::template atomic<node*> tail_{
      nullptr};  // null: free; held(): held without waiters; else the last waiter
  typename Atomics::template atomic<node*> next_{nullptr};  // the owner's successor
};

}  // namespace shoal
