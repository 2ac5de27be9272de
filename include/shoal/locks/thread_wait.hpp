// SPDX-License-Identifier: Apache-2.0
// How a thread passes the time until a lock is its own. A policy of every lock: spin_wait, yield_wait, park_wait,
// adaptive_wait (a little of each in turn; the default). Spinning is for threads that have a processor each: as soon as
// there are more threads than processors, who spins keeps the holder from running.
// A policy for other waiters has the same members, or a `task`, self(), leave() and wake() for waiters that do not
// block their thread (detail/leaving_wait.hpp), as task_wait has.
// Who may call: any thread. Blocks the thread, so tasks use task_wait. Never switches tasks.
// Shown by tests/unit/locks/any_lock_test.cpp, model: tests/model/lock_wait_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shoal {

enum class wait_kind : std::uint8_t { spin, yield, park, adaptive };

namespace detail {

// The system's part; see src/machine/futex.hpp and membarrier.hpp.
void lock_yield() noexcept;
void lock_sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void lock_wake(std::atomic<std::uint32_t>* word, int count) noexcept;
void lock_fence_all() noexcept;
inline void lock_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace detail

template <wait_kind Kind>
struct thread_wait {
  static constexpr bool k_sleeps = Kind == wait_kind::park || Kind == wait_kind::adaptive;
  static constexpr unsigned k_spins = 8;    // a third of a microsecond: longer only keeps others from running
  static constexpr unsigned k_yields = 96;  // with nothing else to run some 30 us, else a turn of the others each

  /// One round of waiting awake; false: it is time to sleep.
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
  /// Between two attempts at a word that many want.
  static void back_off(unsigned round) noexcept {
    for (unsigned i = 0; i < 1U << std::min(round, 6U); ++i) detail::lock_pause();
  }
  /// For somebody who is between two steps of a few instructions.
  static void moment(unsigned round) noexcept { round < k_spins ? detail::lock_pause() : detail::lock_yield(); }

  /// For somebody who may take long; tasks let others run.
  static void give_way(unsigned round) noexcept { moment(round); }
  /// A number that differs among waiters and stays with each: threads differ by where their stacks are.
  static std::size_t place() noexcept {
    const auto page = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> 12;
    return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15U) >> 32);
  }

  static std::atomic<std::uint32_t>* address(std::atomic<std::uint32_t>& word) noexcept { return &word; }
  /// Sleeps while the word holds `expected`; may end for no reason.
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    detail::lock_sleep(word, expected);
  }
  /// Never reads the word, which may be gone.
  static void wake(std::atomic<std::uint32_t>* word, int count) noexcept { detail::lock_wake(word, count); }

  /// Of a pair: fence_all() before going to sleep, fence() in every unlock, which keeps only the compiler in order.
  static void fence_all() noexcept { detail::lock_fence_all(); }
  static void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

using spin_wait = thread_wait<wait_kind::spin>;
using yield_wait = thread_wait<wait_kind::yield>;
using park_wait = thread_wait<wait_kind::park>;
using adaptive_wait = thread_wait<wait_kind::adaptive>;

}  // namespace shoal
