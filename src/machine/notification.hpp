// SPDX-License-Identifier: Apache-2.0
// Notifies an activity that sleeps between ticks; the protocol without the system calls.
//   sleeper:   for (;;) { clear();  tick;  if (prepare()) wait on word() while it holds k_asleep; }
//   notifier:  publish the work;  if (set()) wake one waiter of word();
// Who may call: clear() and prepare() the sleeper; set() any thread. Nothing here waits or switches tasks.
// Guarantees: a tick that begins after set() sees what was published before; set() makes at least one tick begin.
// `Atomics` is the model checker's or the standard's. Shown by tests/model/notification_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::machine {

struct machine_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

template <class Atomics = machine_atomics>
class notification {
public:
  static constexpr std::uint32_t k_quiet = 0;
  static constexpr std::uint32_t k_set = 1;
  static constexpr std::uint32_t k_asleep = 2;

  // Before each tick. An exchange, not a store: it sees the newest set(). Partner of the acquire: set().
  void clear() { word_.exchange(k_quiet, std::memory_order_acquire); }

  // False: set() was called since clear(), tick again. The next clear() acquires.
  bool prepare() {
    std::uint32_t quiet = k_quiet;
    return word_.compare_exchange_strong(quiet, k_asleep, std::memory_order_relaxed, std::memory_order_relaxed);
  }

  // True: wake one waiter of word(). Partner of the release: clear().
  bool set() { return word_.exchange(k_set, std::memory_order_release) == k_asleep; }

  // For the wait and the wake only.
  typename Atomics::template atomic<std::uint32_t>& word() { return word_; }

private:
  typename Atomics::template atomic<std::uint32_t> word_{k_quiet};  // partners: the sleeper and its notifiers
};

}  // namespace shoal::machine
