// SPDX-License-Identifier: Apache-2.0
// Ranges of loops: half-open boxes of one, two or three dimensions. split() halves the side that is longest relative to
// its grain; a side that is not longer than its grain is not halved.
// Who may call: anyone. They are values; nothing switches, allocates or throws.
// Guarantees: the two results of split() are disjoint, and their union is the original range.
// Source: the ranges of oneTBB (blocked_range, blocked_range2d, blocked_range3d), with numbers only.
// Shown by tests/unit/sched/range_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

#include "shoal/detail/assert.hpp"

namespace shoal {

/// The numbers begin() ... end() - 1; none if end is not greater.
class range1d {
public:
  constexpr range1d() = default;
  constexpr range1d(std::uint64_t begin, std::uint64_t end, std::uint64_t grain = 1) noexcept
      : begin_(begin), end_(std::max(begin, end)), grain_(grain) {
    SHOAL_ASSERT(grain > 0, "the grain of a range is at least 1");
  }

  constexpr std::uint64_t begin() const noexcept { return begin_; }
  constexpr std::uint64_t end() const noexcept { return end_; }
  constexpr std::uint64_t size() const noexcept { return end_ - begin_; }
  constexpr bool empty() const noexcept { return begin_ == end_; }
  constexpr std::uint64_t grain() const noexcept { return grain_; }
  constexpr bool is_divisible() const noexcept { return size() > grain_; }

  /// Keeps the near half and returns the far one.
  constexpr range1d split() noexcept { return split_at(begin_ + size() / 2); }
  /// Keeps the numbers below `middle` and returns the rest.
  constexpr range1d split_at(std::uint64_t middle) noexcept {
    range1d far = *this;
    far.begin_ = end_ = middle;
    return far;
  }
  constexpr bool operator==(const range1d&) const = default;

private:
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t grain_ = 1;
};

namespace detail {

/// The common part of boxes with several sides; the last side is the innermost loop.
template <class Box, unsigned N>
class box_of_sides {
public:
  static constexpr unsigned k_sides = N;

  constexpr const range1d& side(unsigned d) const noexcept { return sides_[d]; }
  constexpr range1d& side(unsigned d) noexcept { return sides_[d]; }
  constexpr std::uint64_t size() const noexcept {
    std::uint64_t product = 1;
    for (const auto& s : sides_) product *= s.size();
    return product;
  }
  constexpr bool empty() const noexcept {
    return std::ranges::any_of(sides_, [](const range1d& s) { return s.empty(); });
  }
  constexpr bool is_divisible() const noexcept {
    return std::ranges::any_of(sides_, [](const range1d& s) { return s.is_divisible(); });
  }
  /// The side that split() halves: the longest relative to its grain; the first of equals.
  constexpr unsigned longest() const noexcept {
    unsigned best = 0;
    for (unsigned d = 1; d < N; ++d)
      if (relative(d) > relative(best)) best = d;
    return best;
  }
  /// Keeps the near half and returns the far one.
  constexpr Box split() noexcept {
    Box far = static_cast<const Box&>(*this);
    const unsigned d = longest();
    far.side(d) = sides_[d].split();
    return far;
  }
  constexpr bool operator==(const box_of_sides&) const = default;

protected:
  constexpr box_of_sides() = default;
  constexpr explicit box_of_sides(const std::array<range1d, N>& sides) noexcept : sides_(sides) {}

private:
  constexpr double relative(unsigned d) const noexcept {
    return static_cast<double>(sides_[d].size()) / static_cast<double>(sides_[d].grain());
  }

  std::array<range1d, N> sides_;
};

}  // namespace detail

class range2d : public detail::box_of_sides<range2d, 2> {
public:
  constexpr range2d() = default;
  constexpr range2d(range1d rows, range1d columns) noexcept : box_of_sides({rows, columns}) {}
  constexpr range2d(std::uint64_t row_begin, std::uint64_t row_end, std::uint64_t column_begin,
                    std::uint64_t column_end) noexcept
      : range2d(range1d(row_begin, row_end), range1d(column_begin, column_end)) {}
  constexpr const range1d& rows() const noexcept { return side(0); }
  constexpr const range1d& columns() const noexcept { return side(1); }
};

class range3d : public detail::box_of_sides<range3d, 3> {
public:
  constexpr range3d() = default;
  constexpr range3d(range1d pages, range1d rows, range1d columns) noexcept : box_of_sides({pages, rows, columns}) {}
  constexpr const range1d& pages() const noexcept { return side(0); }
  constexpr const range1d& rows() const noexcept { return side(1); }
  constexpr const range1d& columns() const noexcept { return side(2); }
};

template <class T>
concept loop_range = std::same_as<T, range1d> || std::same_as<T, range2d> || std::same_as<T, range3d>;

}  // namespace shoal
