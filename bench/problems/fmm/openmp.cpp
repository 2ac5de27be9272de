// SPDX-License-Identifier: Apache-2.0
// Dependences declared on the data of tiles, by the first number of each.
#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using namespace problems::fmm;

void begin_tasks(problem& p) {
  method::steps& s = p.steps;
  const method::tiling& all = p.tiles;
  const auto charges = [&](tile_number t) { return s.charges_of(all.tiles[t].first); };
  const auto potentials = [&](tile_number t) { return s.potentials_of(all.tiles[t].first); };
  const auto downward = [&](tile_number t) { return s.downward_of(all.tiles[t].first); };
  std::vector<const double*> needs;
  const auto take = [&needs](std::span<const tile_number> of, const auto& place) {
    needs.clear();
    for (const tile_number t : of) needs.push_back(place(t));
    return static_cast<int>(needs.size());
  };
  for (tile_number t = p.count(); t-- > p.first_far();) {
    const tile of = all.tiles[t];
    const double* own = charges(t);
    const int n = take(all.children[t], charges);
    const double* const* const need = needs.data();
#pragma omp task shared(s) firstprivate(of) depend(iterator(int i = 0 : n), in : *need[i]) depend(out : *own)
    s.up(of.first, of.last);
  }
  for (tile_number t = p.first_far(); t < p.count(); ++t) {
    const tile of = all.tiles[t];
    const double* own = potentials(t);
    const double* lower = downward(t);
    int n = take(all.sources[t], charges);
    const double* const* need = needs.data();
#pragma omp task shared(s) firstprivate(of) depend(iterator(int i = 0 : n), in : *need[i]) depend(out : *own)
    s.across(of.first, of.last, k_block);
    n = take(all.parents[t], downward);
    need = needs.data();
// clang-format off
#pragma omp task shared(s) firstprivate(of) \
    depend(iterator(int i = 0 : n), in : *need[i]) depend(in : *own) depend(out : *lower)
    // clang-format on
    s.down(of.first, of.last);
  }
  for (tile_number t = 0; t < p.count(); ++t) {
    const tile of = all.tiles[t];
    const double* lower = downward(t);
    const int n = take(all.smaller[t], charges);
    const double* const* const need = needs.data();
#pragma omp task shared(s) firstprivate(of) depend(iterator(int i = 0 : n), in : *need[i]) depend(in : *lower)
    s.far(of.first, of.last);
#pragma omp task shared(s) firstprivate(of)
    s.near(of.first, of.last);
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) {
#pragma omp parallel num_threads(workers)
#pragma omp single
    begin_tasks(p);
  });
  return m.finish();
}
