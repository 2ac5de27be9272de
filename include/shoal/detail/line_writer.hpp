// SPDX-License-Identifier: Apache-2.0
// Writes elements to many places at once through a buffer of one cache line for each place: a whole line goes to memory
// by streaming stores, which neither read it first nor displace the buffers from the caches.
// Who may call: one thread for each writer; finish() before others read. Never switches tasks.
// Guarantees: of a line that several places or writers share, each writes its own elements alone.
// Sources: SYSTEMS: radix sort (Morari 2014, chapter 7); Wassenberg, Sanders, "Engineering a multi-core radix sort" (2011).
// Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "shoal/detail/processor.hpp"

namespace shoal::detail {

/// Whether elements of this size fill a line.
template <class T>
inline constexpr bool k_fills_lines = std::has_single_bit(sizeof(T)) && sizeof(T) <= k_line_bytes / 2;

template <class T>
class line_writer {
  static constexpr std::size_t k_slots = k_fills_lines<T> ? k_line_bytes / sizeof(T) : 1;

public:
  /// Whether lines of this array can be filled.
  static bool serves(const T* out) noexcept {
    return k_fills_lines<T> && reinterpret_cast<std::uintptr_t>(out) % sizeof(T) == 0;
  }
  /// `lines`: a line for each place.
  line_writer(T* out, std::byte* lines) noexcept
      : lines_(reinterpret_cast<T*>(lines)),
        before_(reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % k_slots),
        out_(out - before_) {}

  /// Element `at` of the array, which belongs to `place`: elements of a place come one behind the other from `begin` on.
  /// A line is written when the next one begins: then its last element has left the processor's store buffer.
  [[gnu::always_inline]] inline void put(std::size_t place, std::uint64_t at, const std::uint64_t& begin,
                                         const T& value) noexcept {
    const std::uint64_t i = at + before_;
    const std::uint64_t slot = i % k_slots;
    T* const line = lines_ + place * k_slots;
    if (slot == 0) write_line(line, i, begin);
    line[slot] = value;
  }
  /// Writes what the buffer of a place still holds.
  void finish(std::size_t place, std::uint64_t begin, std::uint64_t end) noexcept {
    if (begin == end) return;
    const std::uint64_t last = end - 1 + before_;
    write_part(lines_ + place * k_slots, std::max(begin + before_, last - last % k_slots), last + 1);
  }

private:
  [[gnu::always_inline]] inline void write_line(const T* line, std::uint64_t end, const std::uint64_t& begin) noexcept {
    const std::uint64_t first = begin + before_;
    if (first + k_slots <= end) [[likely]]
      stream_line(out_ + (end - k_slots), line);
    else
      write_part(line, first, end);
  }
  void write_part(const T* line, std::uint64_t begin, std::uint64_t end) noexcept {
    for (std::uint64_t i = begin; i < end; ++i) out_[i] = line[i % k_slots];
  }

  T* lines_;
  std::uint64_t before_;  // elements in the array's first line that are before it
  T* out_;                // the beginning of that line
};

}  // namespace shoal::detail
