// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/tiling.hpp"

#include <algorithm>
#include <utility>

#include "kernels/fmm/steps.hpp"

namespace shoal::kernels::fmm {
namespace {

// Each entry of a list once.
cell_lists without_repeats(std::vector<std::vector<tile_number>> all) {
  for (auto& list : all) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return cell_lists(all);
}

}  // namespace

tile_number tiling::first_far() const noexcept {
  return levels[std::min<std::size_t>(k_first_far_level, levels.size() - 1)];
}

tiling::tiling(const tree& t, unsigned cells) {
  std::vector<tile_number> tile_of(t.cells.size());
  for (int level = 0; level <= t.depth(); ++level) {
    levels.push_back(static_cast<tile_number>(tiles.size()));
    const cell_number end = t.levels[static_cast<std::size_t>(level) + 1];
    for (cell_number first = t.levels[static_cast<std::size_t>(level)]; first < end; first += cells) {
      const cell_number last = std::min(first + cells, end);
      std::fill(tile_of.begin() + first, tile_of.begin() + last, static_cast<tile_number>(tiles.size()));
      tiles.push_back({first, last});
    }
  }
  levels.push_back(static_cast<tile_number>(tiles.size()));

  // The tiles of what `of` names for each cell of a tile.
  const auto tiles_of = [&](const auto& of) {
    std::vector<std::vector<tile_number>> all(tiles.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (t.cells[tiles[i].first].level < k_first_far_level) continue;
      for (cell_number c = tiles[i].first; c < tiles[i].last; ++c)
        of(c, [&](cell_number other) { all[i].push_back(tile_of[other]); });
    }
    return without_repeats(std::move(all));
  };
  children = tiles_of([&](cell_number c, const auto& add) {
    for (const cell_number child : t.cells[c].children)
      if (child != k_no_cell) add(child);
  });
  sources = tiles_of([&](cell_number c, const auto& add) {
    for (const cell_number source : t.v[c]) add(source);
  });
  parents = tiles_of([&](cell_number c, const auto& add) {
    if (t.cells[c].level > k_first_far_level) add(t.cells[c].parent);
  });
  std::vector<std::vector<tile_number>> of_leaves(tiles.size());
  for (const cell_number leaf : t.leaves)
    for (const cell_number w : t.w[leaf]) of_leaves[tile_of[leaf]].push_back(tile_of[w]);
  smaller = without_repeats(std::move(of_leaves));
}

}  // namespace shoal::kernels::fmm
