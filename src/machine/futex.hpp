// SPDX-License-Identifier: Apache-2.0
// Sleeping on a 32-bit word until another thread, or another process that maps the same memory, wakes it: futex(2).
// Who may call: any thread; these block the thread, so a worker calls them only when it parks. Never switches tasks.
// Guarantees: futex_wait sleeps only if the word still holds `expected` at the moment of falling asleep, so a waker
// that changes the word first and then calls futex_wake is never missed. A wait may also end for no reason (a signal):
// the result is then `woken`, and the caller looks at its condition again. Nothing here orders other memory accesses
// beyond what the caller's own accesses to the word do. `shared`: true for memory that several processes map; false is
// a little cheaper. Shown by tests/unit/machine/futex_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/processor.hpp>

namespace shoal::machine {

enum class futex_result { woken, changed, timeout };

inline constexpr std::int64_t k_no_timeout = -1;

/// Sleeps while `word` holds `expected`; at most `timeout_ns` (k_no_timeout: for ever).
futex_result futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                        bool shared) noexcept;

/// Wakes at most `count` sleepers; returns how many.
int futex_wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept;

/// Lets another thread have this processor: sched_yield(2).
void yield_processor() noexcept;

/// Tells the processor that this is a wait loop. Not a system call; does not yield to other threads.
inline void pause() noexcept { shoal::detail::processor_pause(); }

}  // namespace shoal::machine
