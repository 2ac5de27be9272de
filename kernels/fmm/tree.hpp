// SPDX-License-Identifier: Apache-2.0
// The adaptive octree over bodies, and the lists of cells that act on each other. Cells are numbered level by level, in
// Morton order within a level, so that neighbours in space are mostly neighbours in memory; bodies are in the order of
// their leaves. Cells without bodies are left out.
// Lists of a cell B (Ying, Biros, Zorin, "A kernel-independent adaptive fast multipole algorithm", 2004):
//   U  of a leaf: the leaves that touch it, itself among them: body by body
//   V  children of the neighbours of B's parent that do not touch B: by their equivalent charges
//   W  of a leaf: smaller cells that do not touch it, but whose parents do: their equivalent charges act on the bodies
//   X  larger leaves whose W has B: their bodies act on B as a whole
// Who may call: anyone; plain data after construction. Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fmm/bodies.hpp"

namespace shoal::kernels::fmm {

using cell_number = std::uint32_t;
inline constexpr cell_number k_no_cell = ~cell_number{0};
inline constexpr int k_most_levels = 20;

struct cell {
  int level = 0;
  std::array<std::uint32_t, 3> at{};   // in units of its own side
  std::uint32_t first = 0, count = 0;  // bodies
  cell_number parent = k_no_cell;
  std::array<cell_number, 8> children{};  // by octant: bit 0 x, bit 1 y, bit 2 z; k_no_cell: none
  bool leaf = true;

  double half() const noexcept { return 0.5 / static_cast<double>(std::uint32_t{1} << level); }
  std::array<double, 3> centre() const noexcept;
};

/// A list for each cell, one behind the other.
class cell_lists {
public:
  cell_lists() = default;
  explicit cell_lists(const std::vector<std::vector<cell_number>>& all);
  std::span<const cell_number> operator[](cell_number c) const noexcept {
    return {items_.data() + begins_[c], begins_[c + 1] - begins_[c]};
  }
  std::size_t size() const noexcept { return items_.size(); }

private:
  std::vector<std::size_t> begins_;
  std::vector<cell_number> items_;
};

struct tree {
  /// Sorts the bodies; no leaf has more than `leaf_bodies`, unless it is of the last level. O(n log n).
  tree(const bodies& all, unsigned leaf_bodies);

  bodies sorted;
  std::vector<std::uint32_t> places;  // which of the given bodies is at each place
  std::vector<cell> cells;
  std::vector<cell_number> levels;  // where each level begins, and the end
  std::vector<cell_number> leaves;
  cell_lists u, v, w, x;

  int depth() const noexcept { return static_cast<int>(levels.size()) - 2; }
  /// Whether they touch or overlap.
  bool touch(cell_number a, cell_number b) const noexcept;
};

}  // namespace shoal::kernels::fmm
