// SPDX-License-Identifier: Apache-2.0
// Loops over tiles, with barriers; tiles one by one to whoever is free.
#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using namespace problems::fmm;

template <class Step>
void each(tile_number first, tile_number last, const Step& step) {
#pragma omp for schedule(dynamic, 1)
  for (tile_number t = first; t < last; ++t) step(t);
}

void run(problem& p) {
  method::steps& s = p.steps;
  const auto& tiles = p.tiles.tiles;
  const auto& levels = p.tiles.levels;
  each(0, p.count(), [&](tile_number t) { s.near(tiles[t].first, tiles[t].last); });
  for (std::size_t level = levels.size() - 1; level-- > method::k_first_far_level;)
    each(levels[level], levels[level + 1], [&](tile_number t) { s.up(tiles[t].first, tiles[t].last); });
  each(p.first_far(), p.count(), [&](tile_number t) { s.across(tiles[t].first, tiles[t].last, k_block); });
  for (std::size_t level = method::k_first_far_level; level + 1 < levels.size(); ++level)
    each(levels[level], levels[level + 1], [&](tile_number t) { s.down(tiles[t].first, tiles[t].last); });
  each(0, p.count(), [&](tile_number t) { s.far(tiles[t].first, tiles[t].last); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) {
#pragma omp parallel num_threads(workers)
    run(p);
  });
  return m.finish();
}
