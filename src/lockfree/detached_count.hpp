// SPDX-License-Identifier: Apache-2.0
// Counts work that no task waits for (continuations of futures that were dropped), so that the end of a pool can wait.
//   whoever causes work: begin(), before the work can run;   whoever has run it: if (Waiter w = end(); w) wake(w);
//   one task at the end: while (count.must_block(this_task(), &begun)) leave();
// Who may call: begin, end: any worker; none, any: any thread; must_block: one task at a time. Nothing waits, allocates or
// switches tasks.
// Guarantees: must_block() says false at a moment when all work that had begun had ended, and gives the number begun
// until then. The waiter sees what the work wrote. begin() is called by work that is counted itself, or that ends before
// the waiter calls, or by a thread that a lock keeps apart from the last none(); else the count may be zero in between. end() is the work's last access.
// Tests: tests/model/detached_count_test.cpp, tests/unit/sched/detached_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

/// A value-initialized `Waiter` means that there is none.
template <class Waiter, class Atomics = std_atomics>
class detached_count {
public:
  // Relaxed: the caller's own end(), or its end, comes later.
  void begin() { word_.fetch_add(k_begun + k_one, std::memory_order_relaxed); }

  /// Returns the waiter if the caller must wake it. The count may be gone when the waiter is woken.
  Waiter end() {
    for (std::uint64_t word = word_.load(std::memory_order_relaxed);;) {
      const bool wakes = (word & (k_outstanding | k_waits)) == (k_one | k_waits);
      const std::uint64_t next = word - k_one - (wakes ? k_waits : 0);
      // Partners: must_block(), which writes the waiter before and reads the results after; the other calls of end().
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_relaxed))
        return wakes ? waiter_.read() : Waiter{};
    }
  }

  /// True: the caller blocks until end() returns `w`, and then asks again.
  bool must_block(Waiter w, std::uint32_t* begun) {
    waiter_.write(w);
    for (std::uint64_t word = word_.load(std::memory_order_acquire);;) {  // partner: end()
      *begun = static_cast<std::uint32_t>(word >> k_begun_shift);
      if ((word & k_outstanding) == 0) return false;
      if (word_.compare_exchange_weak(word, word | k_waits, std::memory_order_release, std::memory_order_acquire))
        return true;
    }
  }

  /// Whether none is outstanding; gives how much has begun until then.
  bool none(std::uint32_t* begun) const {
    const std::uint64_t word = word_.load(std::memory_order_acquire);  // partner: end()
    *begun = static_cast<std::uint32_t>(word >> k_begun_shift);
    return (word & k_outstanding) == 0;
  }
  /// Whether any work is outstanding; if the caller's own work has ended, none begins from then on.
  bool any() const { return (word_.load(std::memory_order_acquire) & k_outstanding) != 0; }  // partner: end()

protected:
  // The word: how many have begun, modulo 2^32; how many of these have not ended; whether the waiter waits.
  static constexpr std::uint64_t k_waits = 1;
  static constexpr std::uint64_t k_one = 2;
  static constexpr unsigned k_begun_shift = 32;
  static constexpr std::uint64_t k_begun = std::uint64_t{1} << k_begun_shift;
  static constexpr std::uint64_t k_outstanding = k_begun - k_one;

  typename Atomics::template atomic<std::uint64_t> word_{0};  // partners: begin, end, must_block
  typename Atomics::template plain<Waiter> waiter_{Waiter{}};
};

}  // namespace shoal::lockfree
