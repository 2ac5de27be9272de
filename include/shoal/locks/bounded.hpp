// SPDX-License-Identifier: Apache-2.0
// Fair within a bound. A running thread may acquire a free lock before the waiters, but the first waiter of the queue
// is bypassed at most `bound` times; then the lock is handed to it. With more threads than processors, most hand-overs
// need no thread switch, and every wait is bounded: with n waiters before it, a thread waits for at most (n + 1) *
// (bound + 1) acquisitions, including its own.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored.
// Guarantees: waiters are served first-in, first-out. lock() and try_lock() may bypass waiters. The uncontended cost is
// an exchange and a store. Must outlive every unlock() that has begun. Test: tests/unit/locks/kinds_test.cpp, model:
// tests/model/locks_test.cpp.
#pragma once

#include "shoal/locks/ticket.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics, std::size_t Bells = 8>
class bounded_lock {
public:
  static constexpr unsigned k_bound = 512;  // at this value the cost of a thread switch per acquisition is negligible

  explicit bounded_lock(unsigned bound = k_bound) : bound_(bound) {}
  bounded_lock(const bounded_lock&) = delete;
  bounded_lock& operator=(const bounded_lock&) = delete;

  void lock(unsigned = 0) {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  // Partner of the acquire: the release in unlock().
  bool try_lock() { return held_.exchange(1, std::memory_order_acquire) == 0; }

  void unlock() {
    if (waiters_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      if (pass_or_hand_over()) return;
    held_.store(0, std::memory_order_release);
    bell_.ring_one();
  }

private:
  using word = typename Atomics::template atomic<std::uint32_t>;

  // Waiters queue to become the head. Only the head competes with arriving threads. The owners count the bypasses, so
  // the bound holds even if the head does not run.
  [[gnu::noinline]] void wait() {
    waiters_.fetch_add(1, std::memory_order_relaxed);
    queue_.lock();
    bell_.wait(this, [&] {
      if (handed_.load(std::memory_order_acquire) != 0) return true;  // partner: pass_or_hand_over()
      return held_.load(std::memory_order_relaxed) == 0 && try_lock();
    });
    handed_.store(0, std::memory_order_relaxed);
    left_.store(bound_, std::memory_order_relaxed);
    waiters_.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
    queue_.unlock();
  }

  // Called with the lock held. Returns true if the lock was handed to the head and so stays held.
  [[gnu::noinline]] bool pass_or_hand_over() {
    const std::uint32_t left = left_.load(std::memory_order_relaxed);
    if (left != 0) {
      left_.store(left - 1, std::memory_order_relaxed);
      return false;
    }
    handed_.store(1, std::memory_order_release);
    bell_.ring_one();
    return true;
  }

  const std::uint32_t bound_;
  word held_{0};
  word waiters_{0};
  word handed_{0};     // the owner hands the lock to the head
  word left_{bound_};  // guarded by the lock: how many more times the head may be bypassed
  detail::wait_bell<Wait, Atomics> bell_;
  alignas(lockfree::k_cache_line_bytes) ticket_lock<Wait, Atomics, Bells> queue_;
};

}  // namespace shoal
