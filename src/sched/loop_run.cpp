// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/loop_run.hpp"

#include <algorithm>
#include <cstdint>

#include "shoal/detail/loop.hpp"
#include "shoal/detail/tiling.hpp"

namespace shoal::detail {

namespace {

using kind = loop_plan::kind;

void run_as_planned(local_loop& loop, const loop_plan& plan, std::uint64_t size, std::uint64_t parts) {
  loop.stop = plan.stop;
  loop.stack_bytes = plan.stack_bytes;
  switch (plan.how) {
    case kind::shares: return run_loop_static(loop, size);
    case kind::affinity: return run_loop_affinity(loop, partition_access::map(*plan.affinity), size, parts);
    default: return run_loop_here(loop, 0, size);
  }
}

// Of a loop with affinity; bounds for the number of parts.
std::uint64_t blocks(const loop_plan& plan) noexcept {
  return std::uint64_t{partition_access::blocks_per_worker(*plan.affinity)} * worker_here().siblings;
}

std::uint64_t chunk_for(std::uint64_t size, bool takes_parts) noexcept {
  return default_grain(size, worker_here().siblings, takes_parts ? k_longest_part : k_longest_chunk);
}

template <class Box>
tiling<Box> cut_for(const Box& box, const loop_plan& plan, bool takes_parts) noexcept {
  switch (plan.how) {
    case kind::shares: return tiling<Box>::of_shares(box, worker_here().siblings);
    case kind::affinity: return tiling<Box>::of_count(box, blocks(plan));
    case kind::simple: return tiling<Box>::of_size(box, plan.grain);
    default: return tiling<Box>::of_size(box, chunk_for(box.size(), takes_parts));
  }
}

// Whether a box may be divided into single points.
template <class Box>
bool fine_grained(const Box& box) noexcept {
  for (unsigned d = 0; d < Box::k_sides; ++d)
    if (box.side(d).grain() != 1) return false;
  return true;
}

template <class Box>
void run_box(local_loop& loop, const loop_plan& plan, const Box& box, const tiling<Box>& cut, bool takes_parts) {
  loop.tiled = true;
  loop.unit = cut.unit();
  // Tiles of shares and blocks are chunks; of the others only for bodies that take parts.
  loop.grain = takes_parts ? loop.unit : std::min(loop.unit, std::max(chunk_for(box.size(), takes_parts), plan.grain));
  // A range that has grains keeps its tiles whole.
  loop.adapts = !takes_parts && plan.how == kind::automatic && fine_grained(box);
  run_as_planned(loop, plan, cut.tiles() * cut.unit(), cut.tiles());
}

}  // namespace

void run_numbers(local_loop& loop, const loop_plan& plan, std::uint64_t size, std::uint64_t least, bool takes_parts) {
  const bool automatic = plan.how == kind::automatic;
  if (plan.how == kind::simple) {
    loop.grain = std::max(plan.grain, least);
  } else if (takes_parts && !automatic) {
    loop.grain = size;  // a share or block is one part
  } else if (takes_parts || !automatic) {
    loop.grain = std::max(chunk_for(size, takes_parts), least);
  } else {
    // Parts do not adapt: a body that takes them may begin each with work of its own.
    loop.adapts = true;
    loop.least = least;
    loop.grain = std::max(k_longest_adaptive_chunk, least);
  }
  const std::uint64_t parts = plan.how == kind::affinity ? std::clamp<std::uint64_t>(size / least, 1, blocks(plan)) : 1;
  run_as_planned(loop, plan, size, parts);
}

tiling<range2d> tiles_for(const range2d& box, const loop_plan& plan, bool takes_parts) noexcept {
  return cut_for(box, plan, takes_parts);
}
tiling<range3d> tiles_for(const range3d& box, const loop_plan& plan, bool takes_parts) noexcept {
  return cut_for(box, plan, takes_parts);
}

void run_tiles(local_loop& loop, const loop_plan& plan, const range2d& box, const tiling<range2d>& cut,
               bool takes_parts) {
  run_box(loop, plan, box, cut, takes_parts);
}
void run_tiles(local_loop& loop, const loop_plan& plan, const range3d& box, const tiling<range3d>& cut,
               bool takes_parts) {
  run_box(loop, plan, box, cut, takes_parts);
}

}  // namespace shoal::detail
