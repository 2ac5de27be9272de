// SPDX-License-Identifier: Apache-2.0
// The elements of a range of an array, in the order of their indices, for one task: those in mapped memory as they lie
// there, the others in copies, of which several are on their way while the task works on one.
//   for (double x : shoal::element_stream(a.ref(), first, last)) sum += x;
//   shoal::element_stream s(a.ref(), first, last);             // the same by pieces
//   for (auto piece = s.next(); !piece.empty(); piece = s.next()) sum = add_up(piece, sum);
// Who may call: tasks; next() may switch. One task at a time.
// Guarantees: O(1) memory: 64 KiB (16 elements, if these are larger), from the first copied piece on. A piece in mapped
// memory is plain memory, as that of local(): who writes it meanwhile synchronizes. Copies are from before next(), and
// after construction. Errors: a range that the array does not have is misuse (checked builds say so).
// Shown by tests/cluster/array_stream_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <span>

#include "shoal/array.hpp"

namespace shoal {

namespace detail {

/// A bulk get by itself: wait() waits for it, not for what was begun later. Destroyed only when it is complete.
class bulk_read {
public:
  bulk_read();
  bulk_read(const bulk_read&) = delete;
  bulk_read& operator=(const bulk_read&) = delete;
  ~bulk_read();

  /// Sends it at once.
  void begin(const array_layout& layout, std::uint64_t i, void* target, std::uint64_t count, unsigned unit);
  void wait();

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Pieces of [first, last) in order, as bytes.
class piece_stream {
public:
  struct piece {
    const std::byte* data = nullptr;
    std::uint64_t first = 0;
    std::uint64_t count = 0;  // 0: the end
  };

  piece_stream(const array_layout& layout, std::uint64_t first, std::uint64_t last, std::size_t align, unsigned unit);
  piece_stream(const piece_stream&) = delete;
  piece_stream& operator=(const piece_stream&) = delete;
  ~piece_stream();

  /// The piece before is invalid then.
  piece next();

private:
  static constexpr std::uint64_t k_slots = 4;  // one is read, the others are on their way
  struct copies;
  struct planned_piece {
    piece what;
    bool is_copied = false;
  };

  void plan_next();

  const array_layout layout_;
  const std::uint64_t last_;
  const std::size_t align_;
  const unsigned unit_;
  std::uint64_t planned_until_;  // an element
  std::uint64_t planned_ = 0;    // pieces
  std::uint64_t given_ = 0;
  std::array<planned_piece, k_slots> ring_;
  std::unique_ptr<copies> copies_;
};

}  // namespace detail

template <class T>
class element_stream {
public:
  explicit element_stream(const array_ref<T>& a) : element_stream(a, 0, a.size()) {}
  /// The elements of [first, last).
  element_stream(const array_ref<T>& a, std::uint64_t first, std::uint64_t last)
      : pieces_(a.layout(), first, last, alignof(T), detail::copy_unit<T>()) {}

  /// The next elements; empty at the end. They are valid until the next call, or the end of the stream.
  std::span<const T> next() {
    current_ = pieces_.next();
    return {reinterpret_cast<const T*>(current_.data), static_cast<std::size_t>(current_.count)};
  }
  /// The index of the first one.
  std::uint64_t index() const noexcept { return current_.first; }

  class iterator {
  public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    explicit iterator(element_stream* of) : of_(of), piece_(of->next()) {}
    const T& operator*() const noexcept { return piece_[at_]; }
    iterator& operator++() {
      if (++at_ == piece_.size()) piece_ = of_->next(), at_ = 0;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return piece_.empty(); }

  private:
    element_stream* of_;
    std::span<const T> piece_;
    std::size_t at_ = 0;
  };
  /// Once.
  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() const noexcept { return {}; }

private:
  detail::piece_stream pieces_;
  detail::piece_stream::piece current_;
};

/// Calls f(i, element i) for all i of [first, last), in ascending order, in the calling task. f may switch.
template <class T, class F>
void for_each(const array_ref<T>& a, std::uint64_t first, std::uint64_t last, F&& f) {
  element_stream<T> stream(a, first, last);
  for (auto piece = stream.next(); !piece.empty(); piece = stream.next()) {
    std::uint64_t i = stream.index();
    for (const T& element : piece) f(i++, element);
  }
}

}  // namespace shoal
