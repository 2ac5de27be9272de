// SPDX-License-Identifier: Apache-2.0
// The blocks that one worker still has to run in one sweep (a run of an affinity loop): first ... last - 1 of a table
// that each sweep rewrites. The owner takes blocks from the front, idle workers from the back. The list also records
// whether the owner has been notified: the owner may be busy during several sweeps and is notified once.
// Who may call: fill, tell: the thread that begins a sweep, after the previous sweep has ended. take_front, told: the
// owner. take_back, left: any thread. Nothing waits, allocates or switches tasks.
// Guarantees: every block is taken once; the taker sees all writes before fill(). take_back(s) takes nothing if s is
// not the list's sweep. So a thread takes blocks of others only in a sweep in which it has checked its own list. After
// told(), the owner sees every fill() that precedes a tell(), whether this tell() returned true or found that a
// notification was still pending.
// Tests: tests/model/block_list_test.cpp, tests/stress/loop_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class block_list {
public:
  static constexpr std::uint32_t k_none = UINT32_MAX;
  static constexpr std::uint32_t k_most_blocks = (1U << 24) - 1;
  using sweep_number = std::uint16_t;

  // Release; partner: the acquire in take(), also through blocks that others took (a release sequence).
  void fill(std::uint32_t first, std::uint32_t last, sweep_number sweep) {
    state_.store(pack({first, last, sweep}), std::memory_order_release);
  }

  std::uint32_t take_front() {
    return take([](const state&) { return true; }, [](state& s) { return s.first++; });
  }
  std::uint32_t take_back(sweep_number sweep) {
    return take([sweep](const state& s) { return s.sweep == sweep; }, [](state& s) { return --s.last; });
  }

  // A hint: the number of blocks left in that sweep.
  std::uint32_t left(sweep_number sweep) const {
    const state s = unpack(state_.load(std::memory_order_relaxed));
    return s.sweep == sweep ? s.last - s.first : 0;
  }

  // After fill(): true if the caller must notify the owner. Partner: told(). Acquires, for a repeated notification.
  bool tell() { return !told_.exchange(true, std::memory_order_acq_rel); }
  // Called by the owner when it is notified, before it checks its list. Partner: tell().
  void told() { told_.exchange(false, std::memory_order_acq_rel); }

private:
  struct state {
    std::uint32_t first;
    std::uint32_t last;
    sweep_number sweep;
  };

  static std::uint64_t pack(const state& s) {
    return std::uint64_t{s.sweep} << 48 | std::uint64_t{s.first} << 24 | s.last;
  }
  static state unpack(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 24) & k_most_blocks, static_cast<std::uint32_t>(word) & k_most_blocks,
            static_cast<sweep_number>(word >> 48)};
  }

  template <class Allowed, class Take>
  std::uint32_t take(Allowed allowed, Take take_one) {
    std::uint64_t word = state_.load(std::memory_order_relaxed);
    for (;;) {
      state s = unpack(word);
      if (s.first == s.last || !allowed(s)) return k_none;
      const std::uint32_t block = take_one(s);
      // An old value is harmless: the exchange succeeds only on the current one.
      if (state_.compare_exchange_weak(word, pack(s), std::memory_order_acquire, std::memory_order_relaxed))
        return block;
    }
  }

  // Written by the owner and by thieves.
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> state_{0};
  typename Atomics::template atomic<bool> told_{false};
};

}  // namespace shoal::lockfree
