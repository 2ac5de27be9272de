// SPDX-License-Identifier: Apache-2.0
// The ticket lock: first-in, first-out, with one fetch-and-add. Any thread may unlock it for the owner; other locks
// rely on this. With more threads than processors, strict order makes each hand-over cost a thread switch.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored. Must
// outlive every unlock() that has begun. At most 2^32 waiters. Mellor-Crummey & Scott (1991).
// Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include <cstddef>

#include "shoal/detail/wait_bell.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics, std::size_t Bells = 8>
class ticket_lock {
public:
  ticket_lock() = default;
  ticket_lock(const ticket_lock&) = delete;
  ticket_lock& operator=(const ticket_lock&) = delete;

  void lock(unsigned = 0) { lock_part_of(this); }
  /// The same; who waits is shown as waiting for `whole`, of which this lock is a part.
  void lock_part_of(const void* whole) {
    const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    if (!serves(mine)) [[unlikely]]
      wait(mine, whole);
  }
  bool try_lock() {
    std::uint32_t mine = now_.load(std::memory_order_acquire);  // partner: unlock()
    return next_.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  void unlock() {
    const std::uint32_t served = now_.load(std::memory_order_relaxed) + 1;
    now_.store(served, std::memory_order_release);
    bells_[served % Bells].ring_all();
  }

  /// For the owner: whether a thread waits.
  bool has_waiters() const { return next_.load(std::memory_order_relaxed) - now_.load(std::memory_order_relaxed) > 1; }

private:
  bool serves(std::uint32_t ticket) const {
    return now_.load(std::memory_order_acquire) == ticket;
  }  // partner: unlock()
  [[gnu::noinline]] void wait(std::uint32_t mine, const void* whole) {
    bells_[mine % Bells].wait(whole, [&] { return serves(mine); });
  }

  typename Atomics::template atomic<std::uint32_t> next_{0};
  typename Atomics::template atomic<std::uint32_t> now_{0};  // written by the owner only
  detail::wait_bell<Wait, Atomics> bells_[Bells];            // one for the tickets of each remainder
};

}  // namespace shoal
