// SPDX-License-Identifier: Apache-2.0
// Many waiters for a condition on a word of the lock: wait(lock, ready) returns once ready() is true. The thread that changes
// the word then calls ring_one(), if one waiter can use the change (and calls it again when it is done with it), or
// ring_all(), if only a particular waiter can. Ringing costs a load while no waiter sleeps.
// Who may call: any thread; wait() blocks as its policy defines, or switches tasks with task_wait.
// Guarantees: no change is missed: a sleeper announces itself, makes all threads fence, and checks once more (Dekker;
// the unlocker's half is a store, a compiler fence and a load). The bell must outlive every ring().
// Tests: tests/unit/locks/any_lock_test.cpp, model: tests/model/lock_wait_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "shoal/detail/atomics.hpp"

namespace shoal::detail {

template <class Wait, class Atomics = lockfree::std_atomics>
class wait_bell {
public:
  template <class Ready>
  void wait(const void* /*lock*/, Ready&& ready) {
    for (unsigned round = 0;; ++round) {
      if (ready()) return;
      if (!Wait::pass(round)) break;
    }
    if constexpr (Wait::k_sleeps) {
      for (;;) {
        const std::uint32_t announced = announce();
        Wait::fence_all();  // partner: the fence in ring()
        if (ready()) return;
        Wait::sleep(rings_, announced);
        if (!ready()) continue;
        announce();  // a ring wakes one waiter, and there may be others: the woken one rings for the next
        return;
      }
    }
  }

  void ring_one() { ring(1); }
  void ring_all() { ring(std::numeric_limits<int>::max()); }

private:
  void ring([[maybe_unused]] int count) {
    if constexpr (Wait::k_sleeps) {
      Wait::fence();  // partner: fence_all() in wait()
      std::uint32_t seen = rings_.load(std::memory_order_relaxed);
      if ((seen & 1) != 0) [[unlikely]]
        wake(seen, count);
    }
  }
  [[gnu::noinline, gnu::cold]] void wake(std::uint32_t seen, int count) {
    const auto where = Wait::address(rings_);
    if (rings_.compare_exchange_strong(seen, seen + 1, std::memory_order_relaxed, std::memory_order_relaxed))
      Wait::wake(where, count);
  }

  // An exchange also where nothing changes: it sees the newest ring.
  std::uint32_t announce() {
    std::uint32_t seen = rings_.load(std::memory_order_relaxed);
    while (!rings_.compare_exchange_weak(seen, seen | 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
    }
    return seen | 1;
  }

  // Odd while a waiter sleeps or is about to. It is a counter, so a waiter about to sleep notices an earlier ring,
  // though another has announced itself since. Partners: sleepers and ringers.
  typename Atomics::template atomic<std::uint32_t> rings_{0};
};

}  // namespace shoal::detail
