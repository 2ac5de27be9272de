// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/forms.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/task.hpp"
#include "shoal/task_flow.hpp"

namespace shoal::kernels::fmm {
namespace {

// The stages, each level by level. `each(first, last, step)` calls step(range) for all of [first, last).
template <class Each>
void by_stages(steps& s, std::size_t block, const std::vector<std::uint32_t>& levels, const Each& each) {
  const int depth = static_cast<int>(levels.size()) - 2;
  const auto on_level = [&](int level, const auto& step) {
    each(levels[static_cast<std::size_t>(level)], levels[static_cast<std::size_t>(level) + 1], step);
  };
  each(levels.front(), levels.back(), [&s](tile t) { s.near(t.first, t.last); });
  for (int level = depth; level >= k_first_far_level; --level) on_level(level, [&s](tile t) { s.up(t.first, t.last); });
  if (depth >= k_first_far_level)
    each(levels[k_first_far_level], levels.back(), [&s, block](tile t) { s.across(t.first, t.last, block); });
  for (int level = k_first_far_level; level <= depth; ++level)
    on_level(level, [&s](tile t) { s.down(t.first, t.last); });
  each(levels.front(), levels.back(), [&s](tile t) { s.far(t.first, t.last); });
}

void run_serial(steps& s, const form_options&) {
  by_stages(s, 0, s.of().levels, [](cell_number first, cell_number last, const auto& step) {
    for (cell_number c = first; c < last; ++c) step(tile{c, c + 1});
  });
}

template <class Partitioner>
void run_by_cells(steps& s) {
  by_stages(s, 0, s.of().levels, [](cell_number first, cell_number last, const auto& step) {
    parallel_for(
        first, last,
        [&step](cell_number c) {
          step(tile{c, c + 1});
        },
        Partitioner{});
  });
}
void run_static(steps& s, const form_options&) { run_by_cells<static_partitioner>(s); }
void run_dynamic(steps& s, const form_options&) { run_by_cells<simple_partitioner>(s); }

void run_tiled(steps& s, const form_options& o) {
  const std::vector<tile>& tiles = o.tiles->tiles;
  by_stages(s, o.block, o.tiles->levels, [&tiles](tile_number first, tile_number last, const auto& step) {
    parallel_for(
        first, last, [&](tile_number t) { step(tiles[t]); }, simple_partitioner{});
  });
}

// A task per cell and step.
class counted_cells {
public:
  explicit counted_cells(steps& s)
      : s_(s),
        t_(s.of()),
        count_(static_cast<cell_number>(t_.cells.size())),
        missing_(new std::array<std::atomic<std::uint32_t>, k_steps>[t_.cells.size()]) {
    for (cell_number c = 0; c < count_; ++c) {
      const cell& of = t_.cells[c];
      std::array<std::atomic<std::uint32_t>, k_steps>& missing = missing_[c];
      missing[up] = static_cast<std::uint32_t>(
          std::ranges::count_if(of.children, [](cell_number child) { return child != k_no_cell; }));
      missing[across] = static_cast<std::uint32_t>(t_.v[c].size());
      missing[down] = of.level > k_first_far_level ? 2 : 1;
      missing[far] = needs_of_far(c);
    }
  }

  void run() {
    constexpr cell_number k_chunk = 64;
    for (cell_number first = 0; first < count_; first += k_chunk)
      group_.run([this, first] {
        for (cell_number c = first; c < std::min(first + k_chunk, count_); ++c) begin(c);
      });
    group_.wait();
  }

private:
  enum step : unsigned { up, across, down, far, k_steps };
  struct ready {
    step what = k_steps;
    cell_number of = k_no_cell;
  };

  std::uint32_t needs_of_far(cell_number c) const noexcept {
    return static_cast<std::uint32_t>(t_.w[c].size()) + (t_.cells[c].level >= k_first_far_level ? 1 : 0);
  }

  // What needs nothing that another task makes; not what the counters say, which other tasks may have brought to zero.
  // The last to be spawned runs first.
  void begin(cell_number c) {
    const cell& of = t_.cells[c];
    if (of.leaf) group_.run([this, c] { s_.near(c, c + 1); });
    if (of.leaf && needs_of_far(c) == 0) spawn({far, c});
    if (of.level < k_first_far_level) return;
    if (t_.v[c].empty()) spawn({across, c});
    if (of.leaf) spawn({up, c});
  }

  void spawn(ready r) {
    group_.run([this, r] { run_chain(r); });
  }

  // The task, and one of those that its end makes ready, and so on.
  void run_chain(ready now) {
    while (now.of != k_no_cell) {
      const cell_number c = now.of;
      ready next;
      const auto one_less = [&](step what, cell_number of) {
        if (missing_[of][what].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        if (next.of != k_no_cell) spawn(next);
        next = {what, of};
      };
      switch (now.what) {
        case up:
          s_.up(c, c + 1);
          for (const cell_number larger : t_.x[c]) one_less(far, larger);
          for (const cell_number target : t_.v[c]) one_less(across, target);
          if (t_.cells[c].level > k_first_far_level) one_less(up, t_.cells[c].parent);
          break;
        case across:
          s_.across(c, c + 1, 0);
          one_less(down, c);
          break;
        case down:
          s_.down(c, c + 1);
          if (t_.cells[c].leaf) one_less(far, c);
          for (const cell_number child : t_.cells[c].children)
            if (child != k_no_cell) one_less(down, child);
          break;
        case far: s_.far(c, c + 1); break;
        case k_steps: break;
      }
      now = next;
    }
  }

  steps& s_;
  const tree& t_;
  cell_number count_;
  std::unique_ptr<std::array<std::atomic<std::uint32_t>, k_steps>[]> missing_;  // what each step waits for
  task_group group_;
};

void run_counters(steps& s, const form_options&) { counted_cells(s).run(); }

void run_tiled_data(steps& s, const form_options& o) {
  const tiling& all = *o.tiles;
  const auto region = [&](tile_number t, const double* first) {
    return array_region(first, (all.tiles[t].last - all.tiles[t].first) * s.points());
  };
  const auto charges = [&](tile_number t) { return region(t, s.charges_of(all.tiles[t].first)); };
  const auto potentials = [&](tile_number t) { return region(t, s.potentials_of(all.tiles[t].first)); };
  const auto downward = [&](tile_number t) { return region(t, s.downward_of(all.tiles[t].first)); };
  const auto count = static_cast<tile_number>(all.tiles.size());
  const tile_number first_far = all.first_far();
  std::vector<access> accesses;
  const auto reads = [&](std::span<const tile_number> of, const auto& region_of_tile) {
    for (const tile_number t : of) accesses.push_back(in(region_of_tile(t)));
  };
  task_flow flow;
  const auto run = [&](const auto& step) {
    flow.run(std::span<const access>(accesses), step);
    accesses.clear();
  };
  for (tile_number t = count; t-- > first_far;) {
    reads(all.children[t], charges);
    accesses.push_back(out(charges(t)));
    run([&s, of = all.tiles[t]] { s.up(of.first, of.last); });
  }
  for (tile_number t = first_far; t < count; ++t) {
    reads(all.sources[t], charges);
    accesses.push_back(out(potentials(t)));
    run([&s, of = all.tiles[t], block = o.block] { s.across(of.first, of.last, block); });
    reads(all.parents[t], downward);
    accesses.push_back(in(potentials(t)));
    accesses.push_back(out(downward(t)));
    run([&s, of = all.tiles[t]] { s.down(of.first, of.last); });
  }
  for (tile_number t = 0; t < count; ++t) {
    reads(all.smaller[t], charges);
    if (t >= first_far) accesses.push_back(in(downward(t)));
    run([&s, of = all.tiles[t]] { s.far(of.first, of.last); });
    run([&s, of = all.tiles[t]] { s.near(of.first, of.last); });
  }
  flow.wait();
}

constexpr std::array<form, 6> k_forms{{
    {"serial", "one cell after the other", run_serial},
    {"static", "barriers; each worker its share of the cells", run_static},
    {"dynamic", "barriers; cells one by one to whoever is free", run_dynamic},
    {"tiled", "barriers; tiles of cells", run_tiled},
    {"counters", "data-driven; a task per cell and step", run_counters},
    {"tiled-data", "data-driven; a task per tile and step", run_tiled_data},
}};

}  // namespace

std::span<const form> forms() noexcept { return k_forms; }

}  // namespace shoal::kernels::fmm
