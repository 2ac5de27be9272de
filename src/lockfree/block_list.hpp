// SPDX-License-Identifier: Apache-2.0
// What is left of one worker's share of a sweep: blocks first ... last - 1 of a table that is written anew for every
// sweep. The owner takes from the front, whoever has nothing else from the back. And whether the owner has been told to
// look: it may be busy for long, over several sweeps, and is told once.
// fill, tell: whoever begins a sweep, after the one before is done. take_front, told: the owner. take_back, left: any
// thread. Nothing waits, allocates or switches tasks.
// Guarantees: every block is taken once; the taker sees what was written before fill(). From the back it takes only in
// the sweep that it names, so that nobody takes in a sweep in which he has not looked at his own list. An owner told
// sees every fill() before a tell() that found it not told, or told and not yet looking.
// Shown by tests/model/block_list_test.cpp, tests/stress/loop_test.cpp.
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

  // The release is for takers: the acquire in take(), also through what others have taken (a release sequence).
  void fill(std::uint32_t first, std::uint32_t last, sweep_number sweep) {
    state_.store(pack({first, last, sweep}), std::memory_order_release);
  }

  std::uint32_t take_front() {
    return take([](const state&) { return true; }, [](state& s) { return s.first++; });
  }
  std::uint32_t take_back(sweep_number sweep) {
    return take([sweep](const state& s) { return s.sweep == sweep; }, [](state& s) { return --s.last; });
  }

  // A hint: how many are left in that sweep.
  std::uint32_t left(sweep_number sweep) const {
    const state s = unpack(state_.load(std::memory_order_relaxed));
    return s.sweep == sweep ? s.last - s.first : 0;
  }

  // After fill(): true if the owner must be sent word. Partner: told(). Acquires, for the word that is sent again.
  bool tell() { return !told_.exchange(true, std::memory_order_acq_rel); }
  // The owner, when the word has reached it and before it looks. Partner: tell().
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
      // What was known of an older sweep does no harm: this succeeds on what is there now or not at all.
      if (state_.compare_exchange_weak(word, pack(s), std::memory_order_acquire, std::memory_order_relaxed))
        return block;
    }
  }

  // Written by the owner and by takers.
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> state_{0};
  typename Atomics::template atomic<bool> told_{false};
};

}  // namespace shoal::lockfree
