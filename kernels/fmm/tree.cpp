// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shoal::kernels::fmm {
namespace {

// Bits apart by two.
std::uint64_t spread(std::uint64_t n) noexcept {
  n &= 0x1fffff;
  n = (n | n << 32) & 0x1f00000000ffff;
  n = (n | n << 16) & 0x1f0000ff0000ff;
  n = (n | n << 8) & 0x100f00f00f00f00f;
  n = (n | n << 4) & 0x10c30c30c30c30c3;
  return (n | n << 2) & 0x1249249249249249;
}

std::uint64_t morton_key(double x, double y, double z) noexcept {
  constexpr double k_side = std::uint32_t{1} << k_most_levels;
  const auto of = [](double v) {
    return spread(static_cast<std::uint64_t>(std::clamp(v, 0.0, 0x1.fffffffffffffp-1) * k_side));
  };
  return of(x) | of(y) << 1 | of(z) << 2;
}

using sorted_keys = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

sorted_keys keys_of(const bodies& all) {
  sorted_keys keys(all.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = {morton_key(all.x[i], all.y[i], all.z[i]), i};
  std::ranges::sort(keys);
  return keys;
}

// The children of a cell, which are put behind all others.
void split(std::vector<cell>& cells, cell_number parent, const sorted_keys& keys) {
  const cell of = cells[parent];
  const int shift = 3 * (k_most_levels - of.level - 1);
  auto begin = keys.begin() + of.first;
  const auto end = begin + of.count;
  for (unsigned octant = 0; octant < 8; ++octant) {
    const auto last = std::find_if(begin, end, [&](const auto& k) { return ((k.first >> shift) & 7) != octant; });
    if (last == begin) continue;
    cell child;
    child.level = of.level + 1;
    for (unsigned d = 0; d < 3; ++d) child.at[d] = 2 * of.at[d] + ((octant >> d) & 1);
    child.first = static_cast<std::uint32_t>(begin - keys.begin());
    child.count = static_cast<std::uint32_t>(last - begin);
    child.parent = parent;
    child.children.fill(k_no_cell);
    cells[parent].children[octant] = static_cast<cell_number>(cells.size());
    cells[parent].leaf = false;
    cells.push_back(child);
    begin = last;
  }
}

class list_maker {
public:
  explicit list_maker(const tree& t)
      : t_(t), near_(t.cells.size()), u(t.cells.size()), v(t.cells.size()), w(t.cells.size()), x(t.cells.size()) {}

  void make() {
    near_[0] = {0};
    for (cell_number c = 1; c < t_.cells.size(); ++c) split_neighbours(c);
    for (const cell_number leaf : t_.leaves)
      for (const cell_number neighbour : near_[leaf]) visit(leaf, neighbour);
    for (auto* lists : {&u, &v, &w, &x})
      for (auto& list : *lists) std::ranges::sort(list);
  }

private:
  // Children of the neighbours of the parent: those that touch the cell are its neighbours.
  void split_neighbours(cell_number c) {
    for (const cell_number of_parent : near_[t_.cells[c].parent])
      for (const cell_number child : t_.cells[of_parent].children)
        if (child != k_no_cell) (t_.touch(c, child) ? near_ : v)[c].push_back(child);
  }

  void visit(cell_number leaf, cell_number c) {
    if (!t_.touch(leaf, c)) {
      w[leaf].push_back(c);
      x[c].push_back(leaf);
    } else if (t_.cells[c].leaf) {
      u[leaf].push_back(c);
      if (t_.cells[c].level > t_.cells[leaf].level) u[c].push_back(leaf);  // which does not see larger ones
    } else {
      for (const cell_number child : t_.cells[c].children)
        if (child != k_no_cell) visit(leaf, child);
    }
  }

  const tree& t_;
  std::vector<std::vector<cell_number>> near_;  // of the same level, itself among them

public:
  std::vector<std::vector<cell_number>> u, v, w, x;
};

}  // namespace

std::array<double, 3> cell::centre() const noexcept {
  return {(2 * at[0] + 1) * half(), (2 * at[1] + 1) * half(), (2 * at[2] + 1) * half()};
}

cell_lists::cell_lists(const std::vector<std::vector<cell_number>>& all) {
  begins_.reserve(all.size() + 1);
  begins_.push_back(0);
  for (const auto& list : all) {
    items_.insert(items_.end(), list.begin(), list.end());
    begins_.push_back(items_.size());
  }
}

bool tree::touch(cell_number a, cell_number b) const noexcept {
  const cell &p = cells[a], &q = cells[b];
  const int finest = std::max(p.level, q.level);
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t p_first = std::uint64_t{p.at[d]} << (finest - p.level);
    const std::uint64_t q_first = std::uint64_t{q.at[d]} << (finest - q.level);
    const std::uint64_t p_end = p_first + (std::uint64_t{1} << (finest - p.level));
    const std::uint64_t q_end = q_first + (std::uint64_t{1} << (finest - q.level));
    if (p_end < q_first || q_end < p_first) return false;
  }
  return true;
}

tree::tree(const bodies& all, unsigned leaf_bodies) {
  const sorted_keys keys = keys_of(all);
  for (const auto& [key, i] : keys) {
    sorted.x.push_back(all.x[i]);
    sorted.y.push_back(all.y[i]);
    sorted.z.push_back(all.z[i]);
    sorted.charge.push_back(all.charge[i]);
    places.push_back(i);
  }
  cell root;
  root.count = static_cast<std::uint32_t>(keys.size());
  root.children.fill(k_no_cell);
  cells.push_back(root);
  levels = {0, 1};
  for (cell_number c = 0; c < cells.size(); ++c) {
    if (c == levels.back()) levels.push_back(static_cast<cell_number>(cells.size()));
    if (cells[c].count > leaf_bodies && cells[c].level < k_most_levels)
      split(cells, c, keys);
    else
      leaves.push_back(c);
  }
  list_maker lists(*this);
  lists.make();
  u = cell_lists(lists.u);
  v = cell_lists(lists.v);
  w = cell_lists(lists.w);
  x = cell_lists(lists.x);
}

}  // namespace shoal::kernels::fmm
