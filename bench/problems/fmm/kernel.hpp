// SPDX-License-Identifier: Apache-2.0
// The fast multipole method of kernels/fmm: its steps on ranges of cells, which all programs share; they differ in how
// they order and execute them. Size: bodies. Variants: where the bodies are. Work: bodies whose potentials are right, by
// a sample of sums over all bodies. Tiles of 32 cells, whose spectra
// are multiplied 16 groups of frequencies at a time; 6 points per edge.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/fmm/check.hpp"
#include "kernels/fmm/steps.hpp"
#include "kernels/fmm/tiling.hpp"

namespace problems::fmm {

namespace method = shoal::kernels::fmm;
using method::tile;
using method::tile_number;

inline constexpr unsigned k_tile_cells = 32;
inline constexpr std::size_t k_block = 16;  // groups of frequencies

struct problem {
  static constexpr const char* k_name = "fmm";
  static constexpr const char* k_work_unit = "body";
  static constexpr std::uint64_t k_size = 100'000;
  static constexpr std::uint64_t k_test_size = 3'000;
  static constexpr std::array<std::string_view, 2> k_variants{"uniform", "ellipsoid"};
  using result = std::monostate;  // the steps keep the potentials

  problem(std::uint64_t size, std::size_t which)
      : tree(method::make_bodies(std::string(k_variants[which]), checked(size), 1), 60),
        maps(6),
        tiles(tree, k_tile_cells),
        steps(tree, maps),
        check_(tree.sorted) {}

  void prepare() { steps.forget(); }
  bool valid(result) const { return check_.error_of(steps) <= 1e-5; }
  std::uint64_t work(result) const {
    std::uint64_t bodies = 0;
    for (std::uint32_t i = 0; i < tree.sorted.size(); ++i) bodies += std::isfinite(steps.potential(i)) ? 1 : 0;
    return bodies;
  }

  tile_number first_far() const { return tiles.first_far(); }
  tile_number count() const { return static_cast<tile_number>(tiles.tiles.size()); }

  method::tree tree;
  method::operators maps;
  method::tiling tiles;
  method::steps steps;

private:
  static std::uint64_t checked(std::uint64_t size) {
    if (size < 1 || size > (1U << 24)) throw std::invalid_argument("the size is the number of bodies, 1 to 2^24");
    return size;
  }
  method::potential_check check_;
};

/// For programs that build a graph: `add(work)` makes a node, `order(earlier, later)` an edge.
template <class Node, class Add, class Order>
void connect(problem& p, const Add& add, const Order& order) {
  method::steps& s = p.steps;
  const method::tiling& all = p.tiles;
  std::vector<Node> up(p.count()), down(p.count());
  const auto after = [&order](std::span<const tile_number> earlier, std::vector<Node>& nodes, Node& later) {
    for (const tile_number t : earlier) order(nodes[t], later);
  };
  for (tile_number t = p.count(); t-- > p.first_far();) {
    const tile of = all.tiles[t];
    up[t] = add([&s, of] { s.up(of.first, of.last); });
    after(all.children[t], up, up[t]);
  }
  for (tile_number t = 0; t < p.count(); ++t) {
    const tile of = all.tiles[t];
    add([&s, of] { s.near(of.first, of.last); });
    Node far = add([&s, of] { s.far(of.first, of.last); });
    after(all.smaller[t], up, far);
    if (t < p.first_far()) continue;
    Node across = add([&s, of] { s.across(of.first, of.last, k_block); });
    after(all.sources[t], up, across);
    down[t] = add([&s, of] { s.down(of.first, of.last); });
    order(across, down[t]);
    after(all.parents[t], down, down[t]);
    order(down[t], far);
  }
}

}  // namespace problems::fmm
