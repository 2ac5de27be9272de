// SPDX-License-Identifier: Apache-2.0
// A queue in one block of memory, which grows to the largest number of elements that were in it together.
// Who may call: one thread. Elements are trivially copyable. Only reserve() allocates.
// Test: tests/unit/base/growing_ring_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace shoal::base {

template <class T>
class growing_ring {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  bool empty() const noexcept { return first_ == last_; }
  std::size_t size() const noexcept { return last_ - first_; }
  /// Room for one more. May throw std::bad_alloc; then nothing has changed.
  void reserve() {
    if (size() == capacity_) [[unlikely]]
      grow();
  }
  /// After reserve().
  void push(const T& element) noexcept { ring_[last_++ & (capacity_ - 1)] = element; }
  const T& front() const noexcept { return ring_[first_ & (capacity_ - 1)]; }
  T pop() noexcept { return ring_[first_++ & (capacity_ - 1)]; }

private:
  [[gnu::noinline, gnu::cold]] void grow() {
    constexpr std::size_t k_initial = 64;
    const std::size_t larger = capacity_ == 0 ? k_initial : 2 * capacity_;
    auto ring = std::make_unique<T[]>(larger);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) ring[i] = pop();
    ring_ = std::move(ring);
    capacity_ = larger;
    first_ = 0;
    last_ = count;
  }

  std::unique_ptr<T[]> ring_;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

}  // namespace shoal::base
