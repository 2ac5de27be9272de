// SPDX-License-Identifier: Apache-2.0
// The word that tells publishers of work whether to wake a sleeper. Low half: a bit per group of workers that may
// contain a sleeper. High half: minus the number of searchers. So it is positive if there are sleepers and no
// searchers. If policies do not reach all workers, the word counts the sleepers. lockfree/sleeper_map.hpp writes it.
// Who may call: any thread. Tests: tests/model/parking_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::lockfree {

template <class Atomics = std_atomics>
struct wake_sign {
  typename Atomics::template atomic<std::int64_t> word{0};

  /// Whether to wake a sleeper; call it after publishing. No fence: the sleeper that turns the sign on fences for all
  /// threads and then looks for work (sleeper_map::park), so this load sees the sign or that look sees the work.
  bool on() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return word.load(std::memory_order_relaxed) > 0;
  }
};

}  // namespace shoal::lockfree
