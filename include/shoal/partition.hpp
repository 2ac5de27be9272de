// SPDX-License-Identifier: Apache-2.0
// How a loop is divided among workers; in the terms of oneTBB.
//   auto_partitioner      split on demand: half of what is left is given away whenever somebody may want it
//   simple_partitioner    the same, with chunks of a given size
//   static_partitioner    equal contiguous shares, share i on worker i; not stolen, so a busy worker is waited for
//   affinity_partitioner  an object kept over loops: each block goes where it ran the last time
// Who may call: anybody makes them; an affinity_partitioner serves one loop at a time.
// Guarantees: with each of them every iteration runs once.
// Source: oneTBB's partitioners; lazy splitting after Tzannes et al., PPoPP 2010; affinity after Acar, Blelloch &
// Blumofe, "The data locality of work stealing" (2000). Shown by tests/unit/sched/partition_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace shoal {

namespace detail {
class affinity_map;
struct partition_access;
}  // namespace detail

/// A worker goes through what it has in chunks from the front, and offers half of the rest whenever nothing else of its
/// work can be taken; the other worker splits that half in the same way.
/// - If the body takes an index, chunks adapt: each takes a few microseconds. While another worker looks for work, a
///   range is split after at most as many iterations as have taken about 100 ns before; a box, 1600 ns.
/// - If the body takes a part, there are about 30 parts per worker, of at most 16384 iterations each.
/// - A box is cut into about 30 tiles per worker, of at most 1024 points each. If its sides have grains, tiles are not
///   split.
struct auto_partitioner {};

/// As auto_partitioner, but a chunk has at most `grain` iterations (or what the range's own grains do not let divide).
struct simple_partitioner {
  std::uint64_t grain = 1;
};

/// One share per worker, sizes differing by one at most along the side that is cut; worker i runs share i, also what
/// follows an iteration that waits. A body that takes ranges gets its share in one. The caller waits for the other
/// shares: where such loops are nested deeply, callers that wait need stacks in number (setting `stacks`).
struct static_partitioner {};

/// Cuts the range into blocks, about `blocks_per_worker` for each, and remembers which worker ran which. The next loop
/// over a range that is cut into as many hands every worker the same blocks, in ascending order. A worker that has no
/// more takes the last block of whoever has most left, and keeps it from then on. Nobody waits for a worker that is
/// busy elsewhere.
class affinity_partitioner {
public:
  explicit affinity_partitioner(unsigned blocks_per_worker = 8) noexcept
      : blocks_per_worker_(std::max(blocks_per_worker, 1U)) {}
  affinity_partitioner(const affinity_partitioner&) = delete;
  affinity_partitioner& operator=(const affinity_partitioner&) = delete;
  ~affinity_partitioner();

private:
  friend detail::partition_access;
  unsigned blocks_per_worker_;
  detail::affinity_map* map_ = nullptr;
};

namespace detail {

struct partition_access {
  static unsigned blocks_per_worker(const affinity_partitioner& p) noexcept { return p.blocks_per_worker_; }
  static affinity_map*& map(affinity_partitioner& p) noexcept { return p.map_; }
};

template <class T>
concept partitioner = std::same_as<T, auto_partitioner> || std::same_as<T, simple_partitioner> ||
    std::same_as<T, static_partitioner> || std::same_as<T, affinity_partitioner>;

}  // namespace detail

}  // namespace shoal
