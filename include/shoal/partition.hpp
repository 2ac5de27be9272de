// SPDX-License-Identifier: Apache-2.0
// How a loop is divided among workers. The names are those of oneTBB.
//   auto_partitioner      split on demand: a worker offers half of its remaining iterations to idle workers
//   simple_partitioner    the same, with chunks of a given size
//   static_partitioner    equal contiguous shares, share i on worker i; not stolen, so the loop waits for a busy worker
//   affinity_partitioner  an object for several loops: each block runs on the worker that ran it in the last loop
// Who may call: anyone constructs them; an affinity_partitioner serves one loop at a time.
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

/// A worker executes its range in chunks from the front, and offers half of the rest whenever its deque has nothing for
/// thieves; the thief splits that half in the same way.
/// - If the body takes an index, chunks adapt: each takes a few microseconds. While another worker looks for work, a
///   range is split after at most as many iterations as have taken about 100 ns before; a box, 1600 ns.
/// - If the body takes a part, there are about 30 parts per worker, of at most 16384 iterations each.
/// - A box is cut into about 30 tiles per worker, of at most 1024 points each. If its sides have grains, tiles are not
///   split.
struct auto_partitioner {};

/// As auto_partitioner, but a chunk has at most `grain` iterations (more if the range's own grains forbid splitting).
struct simple_partitioner {
  std::uint64_t grain = 1;
};

/// One share per worker; along the divided side, sizes differ by at most one. Worker i runs share i, also after an
/// iteration that waits. A body that takes ranges gets its share in one call. The caller waits for the other shares: in
/// deeply nested loops, each waiting caller needs a stack (setting `stacks`).
struct static_partitioner {};

/// Divides the range into about `blocks_per_worker` blocks per worker, and remembers which worker ran which block. The
/// next loop whose range gives the same number of blocks assigns the blocks to the same workers, in ascending order. A
/// worker without blocks takes the last block of the worker with the most remaining blocks, and keeps it from then on.
/// The loop does not wait for a worker that is busy with something else.
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
