// SPDX-License-Identifier: Apache-2.0
// All ways to place n queens on an n x n board so that no queen attacks another, by backtracking. A board is three bit
// sets (columns and both diagonals under attack in the next row). Each possible placement is a task, down to the last
// row: all placements of a row except the last are spawned, the last is called. The size is n. Verified against the
// known numbers of solutions (OEIS A000170). Work: placements, counted by the search.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

namespace problems::nqueens {

struct counts {
  std::uint64_t solutions;
  std::uint64_t placements;

  void add(const counts& c) {
    solutions += c.solutions;
    placements += c.placements;
  }
};

struct board {
  std::uint32_t columns;
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t all;

  std::uint32_t free() const { return all & ~(columns | left | right); }
  bool full() const { return columns == all; }
  board with(std::uint32_t queen) const { return {columns | queen, (left | queen) << 1, (right | queen) >> 1, all}; }
};

struct problem {
  static constexpr const char* k_name = "nqueens";
  static constexpr const char* k_work_unit = "placement";
  static constexpr std::uint64_t k_size = 13;
  static constexpr std::uint64_t k_test_size = 9;
  static constexpr unsigned k_most = 16;
  using result = counts;

  explicit problem(std::uint64_t size) : n(static_cast<unsigned>(size)) {
    if (size < 1 || size > k_most) throw std::invalid_argument("the size is the number of queens, 1 to 16");
  }

  board empty() const { return {0, 0, 0, (1U << n) - 1}; }
  bool valid(const result& r) const { return r.solutions == k_solutions[n]; }
  std::uint64_t work(const result& r) const { return r.placements; }

  static constexpr std::uint64_t k_solutions[k_most + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                            352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
  unsigned n;
};

/// Receives the counts of the placements of a row.
struct row_counts {
  counts of[problem::k_most];

  counts total(unsigned placements) const {
    counts sum{0, placements};
    for (unsigned i = 0; i < placements; ++i) sum.add(of[i]);
    return sum;
  }
};

inline void serial(const board& b, counts& c) {
  if (b.full()) {
    ++c.solutions;
    return;
  }
  for (std::uint32_t left = b.free(); left != 0; left &= left - 1) {
    ++c.placements;
    serial(b.with(left & -left), c);
  }
}

}  // namespace problems::nqueens
