// SPDX-License-Identifier: Apache-2.0
// An array whose elements are bytes of zeros and take no memory until they are written: what a node keeps by the number
// of another node, of which it uses few. Reading takes no memory either.
// Who may call: as for a plain array; the constructor maps memory. Never switches tasks.
// Requirements: zeros are a valid T, or the user constructs an element before its first use, and destroys it: the array
// runs neither constructors nor destructors.
// Guarantees: elements never move. Memory comes in whole pages. The constructor throws errc::out_of_memory.
// Test: tests/unit/machine/zero_array_test.cpp.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "machine/reserved_range.hpp"

namespace shoal::machine {

template <class T>
class zero_array {
public:
  zero_array() = default;
  explicit zero_array(std::size_t count)
      : range_(round_up(count * sizeof(T), page_size()), page_size()) {  // NOLINT(bugprone-sizeof-expression)
    range_.commit(0, range_.size());
  }
  T* data() const noexcept { return reinterpret_cast<T*>(range_.data()); }
  T& operator[](std::size_t i) const noexcept { return data()[i]; }
  std::size_t bytes() const noexcept { return range_.size(); }
  /// That are in memory. Reads /proc: milliseconds.
  std::size_t resident_bytes() const { return count_pages(range_.data(), range_.size()).resident_bytes; }

private:
  reserved_range range_;
};

/// An element of such an array that is constructed at its first use, and never destroyed.
template <class T>
class made_later {
public:
  bool is_made() const noexcept { return made_; }
  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  template <class... From>
  void make(From&&... from) noexcept {
    new (bytes_) T(std::forward<From>(from)...);
    made_ = true;
  }

private:
  alignas(T) std::byte bytes_[sizeof(T)];
  bool made_;
};

/// A list of at most `most` elements in such an array, in no particular order.
template <class T>
class zero_list {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  zero_list() = default;
  explicit zero_list(std::size_t most) : array_(most) {}
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) const noexcept { return array_[i]; }
  const T* begin() const noexcept { return array_.data(); }
  const T* end() const noexcept { return array_.data() + size_; }
  void push(const T& element) noexcept { array_[size_++] = element; }
  /// The last element takes the place of element i.
  void take_out(std::size_t i) noexcept { array_[i] = array_[--size_]; }

private:
  zero_array<T> array_;
  std::size_t size_ = 0;
};

}  // namespace shoal::machine
