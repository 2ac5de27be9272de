// SPDX-License-Identifier: Apache-2.0
// Copies between contiguous memory and runs of bytes at equal distances: a node's elements of a cyclic array, and their
// places in a span of it.
// Who may call: anyone; pure functions. Guarantees: as copy_elements(), for runs of whole units.
// Shown by tests/unit/array/strided_copy_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shoal/detail/element_access.hpp"

namespace shoal::detail {

/// Runs of `run_bytes`, from the start of one to the start of the next `stride_bytes`. The last run may be shorter.
struct run_shape {
  std::uint64_t run_bytes;
  std::uint64_t stride_bytes;
};

template <class T>
void copy_single_runs(std::byte* to, std::uint64_t to_stride, const std::byte* from, std::uint64_t from_stride,
                      std::uint64_t count) noexcept {
  for (std::uint64_t k = 0; k < count; ++k)
    __atomic_store_n(reinterpret_cast<T*>(to + k * to_stride),
                     __atomic_load_n(reinterpret_cast<const T*>(from + k * from_stride), __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

/// Each run is copied with copy_elements; runs of one unit, the usual case, in one loop.
inline void copy_runs(std::byte* to, std::uint64_t to_stride, const std::byte* from, std::uint64_t from_stride,
                      std::uint64_t bytes, std::uint64_t run_bytes, unsigned unit) noexcept {
  if (unit == run_bytes && bytes % run_bytes == 0 && unit != 1) {
    std::atomic_thread_fence(std::memory_order_release);
    const std::uint64_t count = bytes / run_bytes;
    if (unit == 8)
      copy_single_runs<std::uint64_t>(to, to_stride, from, from_stride, count);
    else if (unit == 4)
      copy_single_runs<std::uint32_t>(to, to_stride, from, from_stride, count);
    else
      copy_single_runs<std::uint16_t>(to, to_stride, from, from_stride, count);
    std::atomic_thread_fence(std::memory_order_acquire);
    return;
  }
  for (; bytes > 0; to += to_stride, from += from_stride) {
    const std::uint64_t n = std::min(bytes, run_bytes);
    copy_elements(to, from, n, unit);
    bytes -= n;
  }
}

/// From runs to contiguous memory, `bytes` in all.
inline void gather_runs(void* to, const void* from, std::uint64_t bytes, const run_shape& shape,
                        unsigned unit) noexcept {
  copy_runs(static_cast<std::byte*>(to), shape.run_bytes, static_cast<const std::byte*>(from), shape.stride_bytes,
            bytes, shape.run_bytes, unit);
}
/// From contiguous memory to runs.
inline void scatter_runs(void* to, const void* from, std::uint64_t bytes, const run_shape& shape,
                         unsigned unit) noexcept {
  copy_runs(static_cast<std::byte*>(to), shape.stride_bytes, static_cast<const std::byte*>(from), shape.run_bytes,
            bytes, shape.run_bytes, unit);
}

}  // namespace shoal::detail
