// SPDX-License-Identifier: Apache-2.0
// Tiles: ranges of cells of one level that one task works on, and which tiles a tile needs before each step.
// Who may call: anyone; plain data after construction. Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <vector>

#include "kernels/fmm/tree.hpp"

namespace shoal::kernels::fmm {

struct tile {
  cell_number first = 0, last = 0;
};

using tile_number = cell_number;

struct tiling {
  /// At most `cells` cells in each.
  tiling(const tree& t, unsigned cells);

  /// The first tile of a level whose cells have steps far away; if there is none, the end.
  tile_number first_far() const noexcept;

  std::vector<tile> tiles;          // level by level
  std::vector<tile_number> levels;  // where each level begins, and the end
  // The tiles of: the children, for `up`; the V lists, for `across`; the parents, for `down`; the W lists, for `far`.
  // Without those of levels that have no such step.
  cell_lists children, sources, parents, smaller;
};

}  // namespace shoal::kernels::fmm
