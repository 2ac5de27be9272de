// SPDX-License-Identifier: Apache-2.0
// A box divided into numbered tiles; tiles with neighbouring numbers are neighbours in space. The bits of a tile's
// number are a path down the tree of halvings; each halves the side that is longest relative to its grain. So half of a
// range of numbers is (nearly) half of the box, and a loop over a box handles plain ranges of numbers.
// Who may call: anyone; constant values. Nothing switches.
// Guarantees: the tiles are disjoint and their union is the box; they depend only on the box and the given numbers. No
// tile has more than unit() points. Tests: tests/unit/sched/tiling_test.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "shoal/detail/assert.hpp"
#include "shoal/range.hpp"

namespace shoal::detail {

template <class Box>
class tiling {
public:
  static constexpr unsigned k_sides = Box::k_sides;

  /// Halves until no tile has more than `most` points, or none can be halved.
  static tiling of_size(const Box& box, std::uint64_t most) noexcept {
    tiling t(box);
    while (t.unit_ > most && t.halve()) {
    }
    return t;
  }
  /// Halves until there are `least` tiles, or none can be halved.
  static tiling of_count(const Box& box, std::uint64_t least) noexcept {
    tiling t(box);
    while (t.tiles() < least && t.halve()) {
    }
    return t;
  }
  /// The given number of tiles, nearly equal; some are empty if the box is small. Grains only choose the divided side.
  static tiling of_shares(const Box& box, unsigned shares) noexcept {
    tiling t(box);
    t.shares_ = shares;
    return t;
  }

  std::uint64_t tiles() const noexcept { return shares_ != 0 ? shares_ : std::uint64_t{1} << cuts_; }
  /// Points per tile, at most.
  std::uint64_t unit() const noexcept { return unit_; }

  Box tile(std::uint64_t k) const noexcept { return shares_ != 0 ? share(k) : halved(k); }

private:
  static constexpr unsigned k_most_cuts = 31;  // of one side, so that products below fit

  explicit tiling(const Box& box) noexcept : box_(box), unit_(box.size()) {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 48;
    double points = 1;
    for (unsigned d = 0; d < k_sides; ++d) points *= static_cast<double>(box.side(d).size());
    SHOAL_ASSERT(points <= static_cast<double>(k_most), "a loop over a box has at most 2^48 iterations");
  }

  // The longest side of the tiles, as they are now.
  std::uint64_t side_of_tiles(unsigned d) const noexcept {
    return (box_.side(d).size() + (std::uint64_t{1} << cuts_of_[d]) - 1) >> cuts_of_[d];
  }

  bool halve() noexcept {
    unsigned best = k_sides;
    double longest = 0;
    for (unsigned d = 0; d < k_sides; ++d) {
      const std::uint64_t length = side_of_tiles(d);
      const double relative = static_cast<double>(length) / static_cast<double>(box_.side(d).grain());
      if (length > box_.side(d).grain() && cuts_of_[d] < k_most_cuts && relative > longest) {
        best = d;
        longest = relative;
      }
    }
    if (best == k_sides) return false;
    side_cut_[cuts_++] = static_cast<std::uint8_t>(best);
    ++cuts_of_[best];
    unit_ = 1;
    for (unsigned d = 0; d < k_sides; ++d) unit_ *= side_of_tiles(d);
    return true;
  }

  Box halved(std::uint64_t k) const noexcept {
    std::array<std::uint64_t, k_sides> coordinate{};
    for (unsigned c = 0; c < cuts_; ++c) {
      auto& at = coordinate[side_cut_[c]];
      at = 2 * at + (k >> (cuts_ - 1 - c) & 1);
    }
    Box result = box_;
    for (unsigned d = 0; d < k_sides; ++d) {
      const range1d& side = box_.side(d);
      const unsigned cuts = cuts_of_[d];
      const std::uint64_t whole = side.size() >> cuts;
      const std::uint64_t rest = side.size() & ((std::uint64_t{1} << cuts) - 1);
      const auto cut = [&](std::uint64_t c) { return side.begin() + whole * c + (rest * c >> cuts); };
      result.side(d) = range1d(cut(coordinate[d]), cut(coordinate[d] + 1), side.grain());
    }
    return result;
  }

  Box share(std::uint64_t k) const noexcept {
    Box near = box_;
    for (std::uint64_t shares = shares_; shares > 1;) {
      const std::uint64_t before = shares / 2;
      range1d& side = near.side(near.longest());
      const std::uint64_t size = side.size();
      const range1d far = side.split_at(side.begin() + size / shares * before + size % shares * before / shares);
      if (k >= before) {
        side = far;
        k -= before;
        shares -= before;
      } else {
        shares = before;
      }
    }
    return near;
  }

  Box box_;
  std::uint64_t unit_;
  unsigned shares_ = 0;
  unsigned cuts_ = 0;
  std::array<unsigned, k_sides> cuts_of_{};
  std::array<std::uint8_t, k_most_cuts * k_sides> side_cut_;
};

}  // namespace shoal::detail
