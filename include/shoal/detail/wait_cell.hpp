// SPDX-License-Identifier: Apache-2.0
// One waiter and one grant: the waiters of a queue lock wait at such cells. It may be on the waiter's stack.
// Who may call: wait() the one waiter, once; grant() one other, once; reset() its only user. wait() blocks as
// its policy defines, or switches tasks with task_wait.
// Guarantees: what was written before grant() is visible after wait(). The waiter may destroy the cell as soon as
// wait() returns: grant() does not touch it after that.
// Shown by tests/unit/locks/any_lock_test.cpp, model: tests/model/lock_wait_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::detail {

template <class Wait, class Atomics = lockfree::std_atomics>
class wait_cell {
public:
  /// `lock`: that the cell belongs to, for policies that tell what their tasks wait for.
  void wait(const void* /*lock*/) {
    // Partner of the acquires: the release in grant().
    for (unsigned round = 0; word_.load(std::memory_order_acquire) != k_granted; ++round) {
      if (Wait::pass(round)) continue;
      if constexpr (Wait::k_sleeps) {
        std::uint32_t seen = k_pending;
        if (word_.compare_exchange_strong(seen, k_asleep, std::memory_order_relaxed, std::memory_order_relaxed)) do
            Wait::sleep(word_, k_asleep);
          while (word_.load(std::memory_order_relaxed) != k_granted);
      }
    }
  }

  void grant() {
    if constexpr (Wait::k_sleeps) {
      const auto where = Wait::address(word_);
      if (word_.exchange(k_granted, std::memory_order_release) == k_asleep) Wait::wake(where, 1);
    } else {
      word_.store(k_granted, std::memory_order_release);
    }
  }

  bool granted() const { return word_.load(std::memory_order_acquire) == k_granted; }  // partner: grant()
  void reset() { word_.store(k_pending, std::memory_order_relaxed); }

private:
  static constexpr std::uint32_t k_pending = 0;
  static constexpr std::uint32_t k_granted = 1;
  static constexpr std::uint32_t k_asleep = 2;
  typename Atomics::template atomic<std::uint32_t> word_{k_pending};  // partners: the waiter and the granter
};

}  // namespace shoal::detail
