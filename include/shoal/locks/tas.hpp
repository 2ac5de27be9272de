// SPDX-License-Identifier: Apache-2.0
// Test-and-set with back-off: the fastest thread acquires the lock. It has the lowest uncontended cost (an exchange and
// a store) and the highest throughput, but no fairness: a waiter may be bypassed without limit.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored.
// Must outlive every unlock() that has begun. Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include "shoal/detail/wait_bell.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics>
class tas_lock {
public:
  tas_lock() = default;
  tas_lock(const tas_lock&) = delete;
  tas_lock& operator=(const tas_lock&) = delete;

  void lock(unsigned = 0) {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  // Partner of the acquire: the release in unlock().
  bool try_lock() { return held_.exchange(1, std::memory_order_acquire) == 0; }
  void unlock() {
    held_.store(0, std::memory_order_release);
    bell_.ring_one();
  }

private:
  [[gnu::noinline]] void wait() {
    unsigned lost = 0;
    bell_.wait(this, [&] {
      if (held_.load(std::memory_order_relaxed) != 0) return false;
      if (try_lock()) return true;
      Wait::back_off(lost++);
      return false;
    });
  }

  typename Atomics::template atomic<std::uint32_t> held_{0};
  detail::wait_bell<Wait, Atomics> bell_;
};

}  // namespace shoal
