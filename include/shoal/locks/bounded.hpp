// SPDX-License-Identifier: Apache-2.0
// Fair within a bound: whoever is running may take a free lock before those who wait, but each waiter at the head of
// the queue is passed at most `bound` times; then it is handed the lock. So with more threads than processors most
// hand-overs need no switch, and every wait is bounded: n waiters before it, so (n + 1) * (bound + 1) acquisitions, its
// own included. Who may call: any thread, or tasks with task_wait. lock() waits as the policy says; the class is
// ignored. Guarantees: first come first served among those who wait. try_lock() may pass as lock() may. Uncontended it
// is an exchange and a store. Must outlive every unlock() that has begun.
// Shown by tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include "shoal/locks/ticket.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics, std::size_t Bells = 8>
class bounded_lock {
public:
  static constexpr unsigned k_bound = 512;  // a switch for so many acquisitions costs little more than none

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

  // Those who wait queue for being the head, which alone competes with those who come. The holders count for it, so
  // that it need not even run to be passed no more often than it should.
  [[gnu::noinline]] void wait() {
    waiters_.fetch_add(1, std::memory_order_relaxed);
    queue_.lock();
    bell_.wait([&] {
      if (handed_.load(std::memory_order_acquire) != 0) return true;  // partner: pass_or_hand_over()
      return held_.load(std::memory_order_relaxed) == 0 && try_lock();
    });
    handed_.store(0, std::memory_order_relaxed);
    left_.store(bound_, std::memory_order_relaxed);
    waiters_.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
    queue_.unlock();
  }

  // With the lock held. True: it stays held, by the head now.
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
  word handed_{0};     // the holder to the head: it is yours
  word left_{bound_};  // guarded by the lock: how often the head may still be passed
  detail::wait_bell<Wait, Atomics> bell_;
  alignas(lockfree::k_cache_line_bytes) ticket_lock<Wait, Atomics, Bells> queue_;
};

}  // namespace shoal
