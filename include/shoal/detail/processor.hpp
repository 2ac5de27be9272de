// SPDX-License-Identifier: Apache-2.0
// What templates in public headers need of the processor that C++ does not name. Outside of this file, src/machine,
// src/fiber and the clocks of src/base nothing names a processor (tests/house/processors.cpp).
// Who may call: anyone. Nothing here waits or switches tasks. Where a processor is not known, the portable form is
// compiled, which is correct everywhere.
// Tests: tests/unit/lockfree (fences), tests/unit/algorithms/radix_sort_test.cpp (streams).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace shoal::detail {

/// Tells the processor that this is a wait loop. Not a system call; other threads do not get the processor.
inline void processor_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` does nothing on most
#endif
}

/// std::atomic_thread_fence(std::memory_order_seq_cst).
inline void full_fence() noexcept {
#if defined(__clang__) && defined(__x86_64__)
  // Clang would emit mfence, nine times as slow as the locked operation that g++ emits and that does as well.
  asm volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline constexpr std::size_t k_line_bytes = 64;

/// Copies a line, both on line boundaries, past the caches if the processor can.
inline void stream_line(void* to, const void* from) noexcept {
#if defined(__SSE2__)
  auto* const t = static_cast<__m128i*>(to);
  const auto* const f = static_cast<const __m128i*>(from);
  _mm_stream_si128(t, _mm_load_si128(f));
  _mm_stream_si128(t + 1, _mm_load_si128(f + 1));
  _mm_stream_si128(t + 2, _mm_load_si128(f + 2));
  _mm_stream_si128(t + 3, _mm_load_si128(f + 3));
#else
  std::memcpy(to, from, k_line_bytes);
#endif
}
/// Behind the last stream_line(): streaming stores are not ordered otherwise, not even by a release.
inline void finish_streams() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace shoal::detail
