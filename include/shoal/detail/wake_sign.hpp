// SPDX-License-Identifier: Apache-2.0
// The word that tells who publishes work whether to wake a sleeper. Low half: a bit per group of workers in which one
// may sleep. High half: minus the number of searchers. So it is positive where somebody sleeps and nobody searches.
// Where policies do not reach everybody the word counts the sleepers. lockfree/sleeper_map.hpp writes it.
// Who may call: any thread. Shown by tests/model/parking_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::lockfree {

template <class Atomics = std_atomics>
struct wake_sign {
  typename Atomics::template atomic<std::int64_t> word{0};

  /// Whether to wake a sleeper: after the work is published. No fence: whoever turns the sign on fences for all threads
  /// and then looks for work (sleeper_map::park), so this load sees the sign or that look sees the work.
  bool on() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return word.load(std::memory_order_relaxed) > 0;
  }
};

}  // namespace shoal::lockfree
