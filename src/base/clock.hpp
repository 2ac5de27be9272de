// SPDX-License-Identifier: Apache-2.0
// Time. now_ns() is the machine's monotonic clock (about 20 ns, comparable between processes of one machine). ticks()
// is the processor's counter (about 8 ns, comparable between cores of one machine if it is invariant), for ages of
// buffers and for traces. Neither is ordered with surrounding memory accesses.
// Who may call: any thread, also on hot paths. Never switches tasks. Use now_ns(), never ticks, for deadlines.
// Guarantees: now_ns() never goes back. The first call of ticks_per_us() in a process costs about 2 ms, later calls
// nothing.
// Test: tests/unit/base/clock_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::base {

/// Nanoseconds of CLOCK_MONOTONIC, or of the clock that a simulated machine has set instead.
std::uint64_t now_ns() noexcept;
/// Always those of CLOCK_MONOTONIC.
std::uint64_t machine_now_ns() noexcept;
/// Of the process: now_ns() reads `clock` from now on; nullptr: the machine's. Returns the one before.
using clock_function = std::uint64_t (*)() noexcept;
clock_function set_clock(clock_function clock) noexcept;

/// Nanoseconds of processor time of the calling thread; a system call.
std::uint64_t thread_processor_ns() noexcept;

/// The processor's counter: the time-stamp counter on x86, the virtual counter on arm64, now_ns() elsewhere.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // the header that names it otherwise takes half a second to read
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return now_ns();
#endif
}

/// The number of ticks() per microsecond; measured at the first call.
double ticks_per_us() noexcept;

}  // namespace shoal::base
