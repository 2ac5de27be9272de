// SPDX-License-Identifier: Apache-2.0
// The parking protocol between one sleeper and many wakers, without the system calls, which are up to the caller.
//   sleeper:  prepare();  if (work is there) cancel();  else while (may_sleep()) wait on word() for k_announced;
//   waker:    publish the work;  if (ring()) wake one waiter of word();
// Who may call: prepare, cancel, may_sleep: the sleeper only. ring: any thread, including the sleeper. Nothing waits or
// switches. Guarantees: for work published before ring(), either the sleeper sees it after prepare(), or one waker's
// ring() returns true. When may_sleep() is false because of a ring(), that waker's work is visible. A late waker may
// cause a wake-up without work; the loop handles it. ring() without an announced sleeper costs a fence and a load.
// Zeroed memory is a doorbell without a sleeper; it may be in memory shared by processes. (Store, fence, load on both
// sides: Dekker.) Tests: tests/model/doorbell_test.cpp, tests/stress/lockfree_test.cpp.
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

  // After this the sleeper must check its queues once more. Partner of the fence: the one in ring().
  void prepare() {
    word_.store(k_announced, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
  }

  // The check found work, or the wait timed out.
  void cancel() { word_.store(k_awake, std::memory_order_relaxed); }

  // False after a ring(). Partner of the acquire: the exchange in ring().
  bool may_sleep() const { return word_.load(std::memory_order_acquire) == k_announced; }

  // True: the caller must wake one waiter of word(). The exchange selects one of many wakers.
  bool ring() {
    Atomics::fence(std::memory_order_seq_cst);
    return ring_after_fence();
  }
  // The same for a caller that has executed such a fence since it published the work.
  bool ring_after_fence() {
    return word_.load(std::memory_order_relaxed) == k_announced &&
           word_.exchange(k_awake, std::memory_order_release) == k_announced;
  }

  // Only for waiting and waking.
  typename Atomics::template atomic<std::uint32_t>& word() { return word_; }

private:
  typename Atomics::template atomic<std::uint32_t> word_{k_awake};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a futex is a plain word");

}  // namespace shoal::lockfree
