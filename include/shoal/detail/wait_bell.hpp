// SPDX-License-Identifier: Apache-2.0
// Many waiters for something that a word of the lock shows: wait(ready) returns once ready() has said yes. Whoever makes
// the change stores it and then rings: ring_one() where one waiter can use it (and rings again when it is done with it),
// ring_all() where only a particular one can. Ringing costs a load while nobody sleeps.
// Who may call: any thread; wait() blocks as its policy says, or switches tasks with task_wait.
// Guarantees: no change is slept over: a sleeper announces itself, makes all threads fence, and looks once more (Dekker;
// the unlocker's half is a store, a compiler fence and a load). The bell must outlive every ring().
// Shown by tests/unit/locks/wait_test.cpp, model: tests/model/lock_wait_test.cpp.
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
  void wait(Ready&& ready) {
    for (unsigned round = 0;; ++round) {
      if (ready()) return;
      if (!Wait::pass(round)) break;
    }
    if constexpr (Wait::k_sleeps) {
      for (;;) {
        asleep_.store(k_somebody, std::memory_order_relaxed);
        Wait::fence_all();  // partner: the fence in ring()
        if (ready()) return;
        Wait::sleep(asleep_, k_somebody);
        if (!ready()) continue;
        // There may be others: a ring wakes one, and whoever it was rings for the next.
        asleep_.store(k_somebody, std::memory_order_relaxed);
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
      if (asleep_.load(std::memory_order_relaxed) != k_nobody) [[unlikely]]
        wake(count);
    }
  }
  [[gnu::noinline, gnu::cold]] void wake(int count) {
    const auto where = Wait::address(asleep_);
    if (asleep_.exchange(k_nobody, std::memory_order_relaxed) != k_nobody) Wait::wake(where, count);
  }

  static constexpr std::uint32_t k_nobody = 0;
  static constexpr std::uint32_t k_somebody = 1;
  typename Atomics::template atomic<std::uint32_t> asleep_{k_nobody};  // partners: sleepers and ringers
};

}  // namespace shoal::detail
