// SPDX-License-Identifier: Apache-2.0
// A message-driven lock: a waiter may name the event that it waits for (lock_event.hpp). The first waiter whose event
// has been raised is served next; otherwise waiters are served first-in, first-out. So a thread whose message has
// arrived need not wait for threads that would only poll. The first waiter in the queue is bypassed at most `bound`
// times.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored. Must
// outlive every unlock() that has begun. An unlock costs a step per waiter.
// Future work of Amer et al., "MPI+Threads: runtime contention and remedies" (2015).
// Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include "shoal/detail/wait_cell.hpp"
#include "shoal/locks/lock_event.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics>
class message_lock {
public:
  using event = basic_lock_event<Atomics>;
  static constexpr unsigned k_bound = 64;

  explicit message_lock(unsigned bound = k_bound) : bound_(bound) {}
  message_lock(const message_lock&) = delete;
  message_lock& operator=(const message_lock&) = delete;

  void lock(unsigned = 0) {
    if (!try_lock()) [[unlikely]]
      wait(nullptr);
  }
  void lock_for(event& e) {
    if (!try_lock()) [[unlikely]]
      wait(&e);
  }
  // Partner of the acquire: the exchange in unlock().
  bool try_lock() {
    node* nobody = nullptr;
    return arrived_.compare_exchange_strong(nobody, held(), std::memory_order_acquire, std::memory_order_relaxed);
  }

  void unlock() {
    if (first_.read() == nullptr) {
      node* none = held();
      if (arrived_.compare_exchange_strong(none, nullptr, std::memory_order_release, std::memory_order_relaxed)) return;
    }
    queue_arrivals();
    take_next()->turn.grant();
  }

private:
  template <class T>
  using plain = typename Atomics::template plain<T>;

  struct node {
    explicit node(event* e) : awaited(e) {}
    event* const awaited;
    plain<node*> next{nullptr};
    plain<unsigned> passed{0};
    detail::wait_cell<Wait, Atomics> turn;
  };

  // Ends the list of arrivals while the lock is held: no node has this address.
  node* held() { return reinterpret_cast<node*>(this); }

  [[gnu::noinline]] void wait(event* e) {
    node me(e);
    node* before = arrived_.load(std::memory_order_relaxed);
    for (;;) {
      if (before == nullptr) {
        if (try_lock()) return;
        before = arrived_.load(std::memory_order_relaxed);
      } else {
        me.next.write(before);
        // Partner of the release: queue_arrivals().
        if (arrived_.compare_exchange_weak(before, &me, std::memory_order_release, std::memory_order_relaxed)) break;
      }
    }
    me.turn.wait(this);
  }

  // The functions below run with the lock held. The newest arrival is first in the list; the queue needs the reverse
  // order.
  void queue_arrivals() {
    if (arrived_.load(std::memory_order_relaxed) == held()) return;
    node* newest = arrived_.exchange(held(), std::memory_order_acquire);  // partner: wait()
    node* const last = newest;
    node* oldest = nullptr;
    while (newest != held()) {
      node* const before = newest->next.read();
      newest->next.write(oldest);
      oldest = newest;
      newest = before;
    }
    if (first_.read() == nullptr)
      first_.write(oldest);
    else
      last_.read()->next.write(oldest);
    last_.write(last);
  }

  node* take_next() {
    node* const head = first_.read();
    if (head->passed.read() < bound_)
      for (node *before = nullptr, *n = head; n != nullptr; before = n, n = n->next.read()) {
        if (n->awaited == nullptr || !n->awaited->raised()) continue;
        if (before == nullptr) break;
        head->passed.write(head->passed.read() + 1);
        before->next.write(n->next.read());
        if (last_.read() == n) last_.write(before);
        return n;
      }
    first_.write(head->next.read());
    return head;
  }

  typename Atomics::template atomic<node*> arrived_{nullptr};  // null: free; held(): held; else the list of arrivals
  plain<node*> first_{nullptr};                                // the queue; guarded by the lock itself
  plain<node*> last_{nullptr};
  unsigned bound_;
};

}  // namespace shoal
