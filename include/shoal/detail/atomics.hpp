// SPDX-License-Identifier: Apache-2.0
// The door through which the lock-free structures reach memory: `std_atomics` is what programs run, and the model
// checker (tests/model/explorer) passes a policy of the same shape, so that it runs the very same code.
//   atomic<T>   as std::atomic<T>; operations name their order always
//   plain<T>    data that is not atomic and that the structure must keep free of races: read(), write()
//   fence(o)    as std::atomic_thread_fence(o)
// In these structures fences only order (sequential consistency); what one thread learns from another travels by
// release and acquire on the atomics themselves. So a race detector that does not know fences (TSan) needs no special
// build.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "shoal/detail/processor.hpp"

namespace shoal::lockfree {

// What two threads write is kept this far apart. A constant rather than std::hardware_destructive_interference_size,
// because it is part of layouts that processes share.
inline constexpr std::size_t k_cache_line_bytes = 64;

template <class T>
class plain_cell {
public:
  plain_cell() = default;
  explicit plain_cell(T value) : value_(std::move(value)) {}
  const T& read() const noexcept { return value_; }
  void write(T value) noexcept { value_ = std::move(value); }

private:
  T value_{};
};

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using plain = plain_cell<T>;
  static void fence(std::memory_order order) noexcept {
    if (order == std::memory_order_seq_cst) return detail::full_fence();
    std::atomic_thread_fence(order);
  }
};

}  // namespace shoal::lockfree
