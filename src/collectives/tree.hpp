// SPDX-License-Identifier: Apache-2.0
// A binomial tree over the members of a group. Members are numbered from the root on; the subtree of place v has the
// places from v on, as many as the lowest bit of v says: so it is contiguous.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {

class tree {
public:
  tree(const link& of, std::uint32_t root) noexcept
      : size_(of.size()), root_(root), place_((of.rank() + of.size() - root) % of.size()) {}

  std::uint32_t place() const noexcept { return place_; }
  bool is_root() const noexcept { return place_ == 0; }
  std::uint32_t rank_of(std::uint32_t place) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{place} + root_) % size_);
  }
  std::uint32_t parent() const noexcept { return rank_of(place_ & (place_ - 1)); }
  /// Behind the last place of the subtree of `place`.
  std::uint32_t end_of(std::uint32_t place) const noexcept { return std::min(place + span_of(place), size_); }

  /// Calls f(place of the child) for each child, the largest subtree first, or last.
  template <class F>
  void for_each_child_largest_first(const F& f) const {
    for (std::uint32_t distance = span_of(place_) / 2; distance > 0; distance /= 2)
      if (place_ + distance < size_) f(place_ + distance);
  }
  template <class F>
  void for_each_child_smallest_first(const F& f) const {
    for (std::uint32_t distance = 1; distance < span_of(place_) && place_ + distance < size_; distance *= 2)
      f(place_ + distance);
  }

private:
  std::uint32_t span_of(std::uint32_t place) const noexcept {
    return place == 0 ? std::bit_ceil(size_) : place & (~place + 1);
  }

  std::uint32_t size_;
  std::uint32_t root_;
  std::uint32_t place_;
};

}  // namespace shoal::collectives
