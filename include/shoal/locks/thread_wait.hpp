// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a lock. Every lock takes a policy: spin_wait, yield_wait, park_wait, or adaptive_wait (a
// little of each in turn; the default). Spinning needs a processor per thread: otherwise spinning threads keep the
// owner from running. A user-defined policy has the same members; for waiters that do not block their thread it has
// `task`, self(), leave(lock) and wake() (detail/leaving_wait.hpp), as task_wait does.
// Who may call: any thread. Blocks the thread, so tasks use task_wait. Never switches tasks.
// Test: tests/unit/locks/any_lock_test.cpp, model: tests/model/lock_wait_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shoal/detail/processor.hpp"

namespace shoal {

enum class wait_kind : std::uint8_t { spin, yield, park, adaptive };

namespace detail {

// System calls; see src/machine/futex.hpp and membarrier.hpp.
void lock_yield() noexcept;
void lock_sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void lock_wake(std::atomic<std::uint32_t>* word, int count) noexcept;
void lock_fence_all() noexcept;
inline void lock_pause() noexcept { processor_pause(); }

}  // namespace detail

template <wait_kind Kind>
struct thread_wait {
  static constexpr bool k_sleeps = Kind == wait_kind::park || Kind == wait_kind::adaptive;
  static constexpr unsigned k_spins =
      8;  // a third of a microsecond: a longer spin only keeps other threads from running
  static constexpr unsigned k_yields =
      96;  // about 30 us if nothing else runs, else one turn of each other thread per yield

  /// One round of waiting without blocking. False: the caller should block.
  static bool pass(unsigned round) noexcept {
    if constexpr (Kind == wait_kind::park) return false;
    if (Kind == wait_kind::spin || round < k_spins) {
      detail::lock_pause();
      return true;
    }
    if (Kind == wait_kind::adaptive && round >= k_spins + k_yields) return false;
    detail::lock_yield();
    return true;
  }
  /// Waits between two attempts at a contended word.
  static void back_off(unsigned round) noexcept {
    for (unsigned i = 0; i < 1U << std::min(round, 6U); ++i) detail::lock_pause();
  }
  /// Waits for a thread that is between two steps a few instructions apart.
  static void moment(unsigned round) noexcept { round < k_spins ? detail::lock_pause() : detail::lock_yield(); }

  /// Waits for a thread that may need long; the policy of tasks lets other tasks run.
  static void give_way(unsigned round) noexcept { moment(round); }
  /// A number that differs between waiters and is constant for each: derived from the stack's address.
  static std::size_t place() noexcept {
    const auto page = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> 12;
    return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15U) >> 32);
  }

  static std::atomic<std::uint32_t>* address(std::atomic<std::uint32_t>& word) noexcept { return &word; }
  /// Blocks while the word holds `expected`; may return spuriously.
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    detail::lock_sleep(word, expected);
  }
  /// Does not read the word, which may no longer exist.
  static void wake(std::atomic<std::uint32_t>* word, int count) noexcept { detail::lock_wake(word, count); }

  /// An asymmetric pair: fence_all() before blocking; fence() in every unlock is only a compiler barrier.
  static void fence_all() noexcept { detail::lock_fence_all(); }
  static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

using spin_wait = thread_wait<wait_kind::spin>;
using yield_wait = thread_wait<wait_kind::yield>;
using park_wait = thread_wait<wait_kind::park>;
using adaptive_wait = thread_wait<wait_kind::adaptive>;

}  // namespace shoal
