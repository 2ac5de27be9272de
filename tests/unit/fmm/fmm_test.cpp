// SPDX-License-Identifier: Apache-2.0
// The fast multipole method of kernels/fmm: lists that cover all pairs of bodies once, potentials against sums over all
// bodies, and the same from every form of tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/fmm/check.hpp"
#include "kernels/fmm/forms.hpp"
#include "shoal/error.hpp"
#include "shoal/pool.hpp"
#include "unit/rounds.hpp"

namespace shoal::kernels::fmm {
namespace {

const operators& maps_of_order(int order) {
  static const operators four(4), six(6);
  return order == 4 ? four : six;
}

bodies at_one_place(std::uint32_t count) {
  bodies all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.x.push_back(0.3);
    all.y.push_back(0.7);
    all.z.push_back(0.999999);
    all.charge.push_back(1);
  }
  return all;
}

// A crowd in a corner beside a few far away: leaves of very different sizes touch, so that W and X lists are long.
bodies crowded(std::uint32_t count) {
  bodies all = make_bodies("uniform", count, 5);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % 8 == 0) continue;
    const double shrink = i % 2 == 0 ? 1.0 / 64 : 1.0 / 1024;
    for (std::vector<double>* v : {&all.x, &all.y, &all.z}) (*v)[i] = 0.5 + (*v)[i] * shrink;
  }
  return all;
}

bodies cloud(const std::string& name) {
  if (name == "crowded") return crowded(2000);
  if (name == "few") return make_bodies("uniform", 7, 1);
  if (name == "one") return make_bodies("uniform", 1, 1);
  if (name == "no levels far") return make_bodies("uniform", 100, 1);
  // Eight times fewer cells, a level less, for the thread sanitizer; the other clouds have more levels with it, too.
  return make_bodies(name, name == "uniform" ? rounds(2000U, 800U) : 2000U, 3);
}

class fmm_of : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(bodies, fmm_of,
                         testing::Values("uniform", "ellipsoid", "crowded", "no levels far", "few", "one"),
                         [](const auto& given) {
                           std::string name = given.param;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

TEST_P(fmm_of, lists_cover_all_pairs_once) {
  const tree t(cloud(GetParam()), 20);
  ASSERT_EQ(t.levels.back(), t.cells.size());
  std::size_t bodies_of_leaves = 0;
  for (const cell_number leaf : t.leaves) {
    bodies_of_leaves += t.cells[leaf].count;
    std::vector<int> seen(t.sorted.size());
    const auto mark = [&](std::span<const cell_number> list) {
      for (const cell_number c : list)
        for (std::uint32_t i = t.cells[c].first; i < t.cells[c].first + t.cells[c].count; ++i) ++seen[i];
    };
    mark(t.u[leaf]);
    mark(t.w[leaf]);
    for (cell_number c = leaf; c != k_no_cell; c = t.cells[c].parent) {
      mark(t.v[c]);
      mark(t.x[c]);
    }
    ASSERT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; })) << "leaf " << leaf;
  }
  EXPECT_EQ(bodies_of_leaves, t.sorted.size());
}

TEST_P(fmm_of, lists_are_what_steps_may_read) {
  const tree t(cloud(GetParam()), 20);
  for (cell_number c = 0; c < t.cells.size(); ++c) {
    for (const cell_number v : t.v[c]) {
      EXPECT_EQ(t.cells[v].level, t.cells[c].level);
      EXPECT_TRUE(std::ranges::binary_search(t.v[v], c));  // who waits for whom
      EXPECT_FALSE(t.touch(c, v));
    }
    for (const cell_number w : t.w[c]) {
      EXPECT_TRUE(t.cells[c].leaf && t.cells[w].level >= k_first_far_level);
      EXPECT_TRUE(std::ranges::binary_search(t.x[w], c));
    }
    if (t.cells[c].level < k_first_far_level) {
      EXPECT_TRUE(t.v[c].empty() && t.x[c].empty());
    }
  }
}

double error_of(const steps& s) { return potential_check(s.of().sorted, 600).error_of(s); }

TEST_P(fmm_of, every_form_gives_the_potentials) {
  const tree t(cloud(GetParam()), 20);
  for (const auto& [tile_cells, workers] : {std::pair{5U, 1U}, {1U, 2U}, {5U, 7U}}) {
    const tiling tiles(t, tile_cells);
    pool p(workers);
    for (const form& f : forms()) {
      steps s(t, maps_of_order(4));
      const std::size_t block = tile_cells == 1 ? 0 : 3;
      s.forget();
      p.run([&] { f.run(s, {&tiles, block}); });
      EXPECT_LT(error_of(s), 1e-3) << f.name << ", " << workers << " workers, tiles of " << tile_cells;
    }
  }
}

TEST(fmm, has_more_digits_with_more_points) {
  const tree t(make_bodies("ellipsoid", 4000, 3), 20);
  steps s(t, maps_of_order(6));
  forms().front().run(s, {});
  EXPECT_LT(error_of(s), 1e-5);
}

// The temporaries of products of matrices, too.
TEST(fmm, large_tiles_fit_on_the_stacks_of_tasks) {
  const tree t(make_bodies("ellipsoid", 4000, 3), 20);
  const tiling tiles(t, 64);
  steps s(t, maps_of_order(6));
  s.forget();
  pool p(2);
  p.run([&] { forms().back().run(s, {&tiles, 16}); });
  EXPECT_LT(error_of(s), 1e-5);
}

TEST(fmm, ends_for_bodies_at_one_place) {
  const tree t(at_one_place(100), 20);
  EXPECT_EQ(t.depth(), k_most_levels);
  steps s(t, maps_of_order(4));
  forms().front().run(s, {});
  EXPECT_EQ(s.potential(5), 0);  // of charges at the body itself
}

TEST(fmm, keeps_the_places_of_the_bodies) {
  const bodies all = make_bodies("uniform", 500, 9);
  const tree t(all, 10);
  for (std::uint32_t i = 0; i < 500; ++i) {
    EXPECT_EQ(t.sorted.x[i], all.x[t.places[i]]);
    EXPECT_EQ(t.sorted.charge[i], all.charge[t.places[i]]);
  }
}

TEST(fmm, tiles_need_the_tiles_of_what_their_cells_need) {
  const tree t(crowded(4000), 20);
  const tiling tiles(t, 5);
  std::vector<tile_number> tile_of(t.cells.size());
  cell_number next = 0;
  for (tile_number i = 0; i < tiles.tiles.size(); ++i) {
    EXPECT_EQ(tiles.tiles[i].first, next);
    EXPECT_LE(tiles.tiles[i].last - tiles.tiles[i].first, 5U);
    for (; next < tiles.tiles[i].last; ++next) {
      tile_of[next] = i;
      EXPECT_EQ(t.cells[next].level, t.cells[tiles.tiles[i].first].level);
    }
  }
  EXPECT_EQ(next, t.cells.size());
  for (cell_number c = 0; c < t.cells.size(); ++c) {
    if (t.cells[c].level < k_first_far_level) continue;
    for (const cell_number v : t.v[c]) EXPECT_TRUE(std::ranges::binary_search(tiles.sources[tile_of[c]], tile_of[v]));
    for (const cell_number w : t.w[c]) EXPECT_TRUE(std::ranges::binary_search(tiles.smaller[tile_of[c]], tile_of[w]));
    if (t.cells[c].level == k_first_far_level) continue;
    EXPECT_TRUE(std::ranges::binary_search(tiles.children[tile_of[t.cells[c].parent]], tile_of[c]));
    EXPECT_TRUE(std::ranges::binary_search(tiles.parents[tile_of[c]], tile_of[t.cells[c].parent]));
  }
}

TEST(fmm, refuses_what_it_cannot_do) {
  EXPECT_THROW(make_bodies("sphere", 10, 1), error);
  EXPECT_THROW(operators(1), error);
  EXPECT_THROW(operators(13), error);
}

}  // namespace
}  // namespace shoal::kernels::fmm
