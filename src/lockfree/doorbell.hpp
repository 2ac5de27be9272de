// SPDX-License-Identifier: Apache-2.0
// The parking protocol between one sleeper and many wakers, without the system calls: those are the caller's.
//   sleeper:  prepare();  if (work is there) cancel();  else while (may_sleep()) wait on word() for k_announced;
//   waker:    publish the work;  if (ring()) wake one waiter of word();
// prepare, cancel, may_sleep: the sleeper only. ring: any thread, and the sleeper itself. Nothing here waits or
// switches. Guarantees: work published before ring() is seen by the sleeper's look after prepare(), or ring() returns
// true (to one of the wakers); once may_sleep() is false because of a ring, that waker's work is visible. A wake-up may
// come without work, from a waker that is late: the loop takes care of it. ring() with nobody announced costs a fence
// and a load. Zeroed memory is a doorbell that nobody sleeps on; it may lie in memory shared by processes.
// (Store, fence, load on both sides: Dekker.) Shown by tests/model/doorbell_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class doorbell {
public:
  static constexpr std::uint32_t k_awake = 0;
  static constexpr std::uint32_t k_announced = 1;

  // After this the sleeper must look at its queues once more. Partner of the fence: the one in ring().
  void prepare() {
    word_.store(k_announced, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
  }

  // The look found work; also after sleeping with a time limit.
  void cancel() { word_.store(k_awake, std::memory_order_relaxed); }

  // False once somebody has rung. Partner of the acquire: the exchange in ring().
  bool may_sleep() const { return word_.load(std::memory_order_acquire) == k_announced; }

  // True: wake one waiter of word(). The exchange lets one of many wakers do it.
  bool ring() {
    Atomics::fence(std::memory_order_seq_cst);
    return word_.load(std::memory_order_relaxed) == k_announced &&
           word_.exchange(k_awake, std::memory_order_release) == k_announced;
  }

  // For the wait and the wake only.
  typename Atomics::template atomic<std::uint32_t>& word() { return word_; }

private:
  typename Atomics::template atomic<std::uint32_t> word_{k_awake};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a futex is a plain word");

}  // namespace shoal::lockfree
