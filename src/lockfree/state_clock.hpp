// SPDX-License-Identifier: Apache-2.0
// The time that one thread has spent in each of several states. The thread enters states; any thread may read all
// times.
// Who may call: enter, restart: the owner only; a few stores, no read-modify-write. try_read: any thread; false if the
// owner is writing: the caller tries again and lets others run meanwhile. Nothing waits or switches tasks.
// Guarantees: a reading is consistent: `elapsed` is complete up to `since`, when the owner entered `state`. The owner
// supplies the times, which should not go back.
// (A sequence lock whose data carry the order themselves: Boehm, "Can seqlocks get along with programming language
// memory models?", MSPC 2012.) Test: tests/model/state_clock_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <std::size_t States, class Atomics = std_atomics>
class state_clock {
public:
  struct reading {
    std::array<std::uint64_t, States> elapsed{};
    std::uint64_t since = 0;
    std::uint32_t state = 0;
    std::uint32_t epoch = 0;
  };

  /// Enters `state`. Adds the time since the last change to elapsed[charged]; `charged` is usually the state that ends.
  void enter(std::uint32_t state, std::uint64_t now, std::uint32_t charged) {
    write(state, now, charged, now - since_.load(std::memory_order_relaxed), epoch_.load(std::memory_order_relaxed));
  }
  /// As enter(), but the time that it adds begins at `since`; also sets the epoch.
  void restart(std::uint32_t state, std::uint64_t now, std::uint32_t charged, std::uint64_t since,
               std::uint32_t epoch) {
    write(state, now, charged, now - since, epoch);
  }
  std::uint32_t state() const { return state_.load(std::memory_order_relaxed); }
  std::uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

  bool try_read(reading& into) const {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    if (before % 2 != 0) return false;
    for (std::size_t s = 0; s < States; ++s) into.elapsed[s] = elapsed_[s].load(std::memory_order_acquire);
    into.since = since_.load(std::memory_order_acquire);
    into.state = state_.load(std::memory_order_acquire);
    into.epoch = epoch_.load(std::memory_order_acquire);
    return version_.load(std::memory_order_relaxed) == before;
  }

private:
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

  // Each store releases: a reader of any of them also sees the odd version, and fails. Partners: the loads of
  // try_read().
  void write(std::uint32_t state, std::uint64_t now, std::uint32_t charged, std::uint64_t passed, std::uint32_t epoch) {
    const std::uint32_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    elapsed_[charged].store(elapsed_[charged].load(std::memory_order_relaxed) + passed, std::memory_order_release);
    since_.store(now, std::memory_order_release);
    state_.store(state, std::memory_order_release);
    epoch_.store(epoch, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  atomic<std::uint32_t> version_{0};  // odd: being written
  atomic<std::uint32_t> state_{0};
  atomic<std::uint32_t> epoch_{0};
  atomic<std::uint64_t> since_{0};
  std::array<atomic<std::uint64_t>, States> elapsed_{};
};

}  // namespace shoal::lockfree
