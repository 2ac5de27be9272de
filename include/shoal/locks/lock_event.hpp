// SPDX-License-Identifier: Apache-2.0
// An event that a waiter of a message-driven lock waits for: a message, a completion. The thread that sees the event
// calls raise(), with or without the lock; the waiter is then served next (see message.hpp). Other locks ignore events.
// Who may call: any thread or task. Never waits. The event must outlive the lock() or lock_for() that received it.
// Test: tests/unit/locks/kinds_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal {

template <class Atomics>
class basic_lock_event {
public:
  void raise() { raised_.store(1, std::memory_order_release); }
  void reset() { raised_.store(0, std::memory_order_relaxed); }
  bool raised() const { return raised_.load(std::memory_order_acquire) != 0; }  // partner: raise()

private:
  typename Atomics::template atomic<std::uint32_t> raised_{0};
};

using lock_event = basic_lock_event<lockfree::std_atomics>;

}  // namespace shoal
