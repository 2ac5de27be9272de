// SPDX-License-Identifier: Apache-2.0
// A wavefront: in a square of tiles each tile depends on its upper and its left neighbour. A tile combines their values
// and mixes the result `grain` times (0: an empty tile, two loads and a store; 1000: about a microsecond). The size is
// the number of tiles per side. A run makes k_sweeps sweeps over the square, one after another. The first tile begins
// with the last tile's value of the previous sweep, so a tile that runs too early leaves a wrong value. All tiles are
// verified against a serial run. Work: tiles. Programs with dependence counters reset the counters while the tiles run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <variant>
#include <vector>

namespace problems::wavefront {

inline constexpr unsigned k_sweeps = 50;

/// The values of the tiles, with an additional row above and column on the left that stay 0.
class square {
public:
  square(unsigned side, unsigned grain) : side_(side), grain_(grain), values_(std::size_t{side + 1} * (side + 1)) {}

  unsigned side() const { return side_; }
  void clear() { std::fill(values_.begin(), values_.end(), 0); }

  /// The task: row and column from 0.
  void compute(unsigned row, unsigned column) {
    const std::size_t here = place(row, column);
    std::uint64_t x = values_[here - 1] + 3 * values_[here - (side_ + 1)];
    if (row + column == 0) x = values_.back() + 1;
    for (unsigned i = 0; i < grain_; ++i) x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U + 1;
    values_[here] = x;
  }

  /// For dependences declared on data; tiles outside the square have an address, too.
  const std::uint64_t* above(unsigned row, unsigned column) const { return &values_[place(row, column) - (side_ + 1)]; }
  const std::uint64_t* left(unsigned row, unsigned column) const { return &values_[place(row, column) - 1]; }
  std::uint64_t* tile(unsigned row, unsigned column) { return &values_[place(row, column)]; }

  friend bool operator==(const square&, const square&) = default;

private:
  std::size_t place(unsigned row, unsigned column) const { return std::size_t{row + 1} * (side_ + 1) + column + 1; }

  unsigned side_;
  unsigned grain_;
  std::vector<std::uint64_t> values_;
};

/// The number of missing dependences of each tile, for programs with counters. A counter is reset when it reaches zero.
class countdown {
public:
  explicit countdown(unsigned side) : side_(side), waits_(std::size_t{side} * side) {
    for (unsigned row = 0; row < side; ++row)
      for (unsigned column = 0; column < side; ++column)
        at(row, column).store(full(row, column), std::memory_order_relaxed);
  }

  /// A dependence of (row, column) was computed: returns true if it was the last. False for a tile outside the square.
  bool arrived(unsigned row, unsigned column) {
    if (row == side_ || column == side_) return false;
    std::atomic<int>& waits = at(row, column);
    if (waits.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;  // partner: the other neighbour's
    waits.store(full(row, column), std::memory_order_relaxed);  // read in the next sweep, after the end of this one
    return true;
  }

private:
  std::atomic<int>& at(unsigned row, unsigned column) { return waits_[std::size_t{row} * side_ + column]; }
  static int full(unsigned row, unsigned column) { return (row > 0 ? 1 : 0) + (column > 0 ? 1 : 0); }

  unsigned side_;
  std::vector<std::atomic<int>> waits_;
};

inline void serial(square& s) {
  for (unsigned row = 0; row < s.side(); ++row)
    for (unsigned column = 0; column < s.side(); ++column) s.compute(row, column);
}

struct problem {
  static constexpr const char* k_name = "wavefront";
  static constexpr const char* k_work_unit = "tile";
  static constexpr std::uint64_t k_size = 64;
  static constexpr std::uint64_t k_test_size = 16;
  static constexpr std::uint64_t k_grain = 0;
  using result = std::monostate;  // the tiles contain the result

  problem(std::uint64_t size, std::uint64_t grain)
      : tiles(checked(size, grain), static_cast<unsigned>(grain)), expected_(tiles) {
    for (unsigned i = 0; i < k_sweeps; ++i) serial(expected_);
  }

  void prepare() { tiles.clear(); }
  bool valid(result) const { return tiles == expected_; }
  // If the result is right, every tile of every sweep has been computed.
  std::uint64_t work(result) const {
    return tiles == expected_ ? std::uint64_t{k_sweeps} * tiles.side() * tiles.side() : 0;
  }

  square tiles;

private:
  static unsigned checked(std::uint64_t size, std::uint64_t grain) {
    if (size < 1 || size > 4096) throw std::invalid_argument("the size is the number of tiles per side, 1 to 4096");
    if (grain > 1000000)
      throw std::invalid_argument("the grain is the number of times that a tile mixes its value, at most 1000000");
    return static_cast<unsigned>(size);
  }
  square expected_;
};

}  // namespace problems::wavefront
