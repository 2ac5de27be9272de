// SPDX-License-Identifier: Apache-2.0
// Memory blocks of small tasks (see worker_base), exchanged between workers: a thief frees the blocks of the tasks that it
// stole, and their owner needs new ones. Workers put and take whole chains of k_chain blocks, one atomic operation each.
// A block is a part of a slab. The depot keeps a bounded number of chains; it gives the blocks of further chains back to
// their slabs, and a slab with all its blocks back to the system.
// Who may call: any worker of the pool. Nothing waits or switches tasks. Guarantees: the depot keeps at most
// k_most_chains chains, and one more for each worker that puts at the same time. A block may outlive depot and pool.
// Magazines and depots: Bonwick & Adams, "Magazines and Vmem" (2001). Tests: tests/unit/sched/block_depot_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lockfree/inbox.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::sched {

class block_depot {
public:
  using block = detail::worker_base::block;
  static constexpr unsigned k_most_chains = 64;

  /// k_chain blocks linked by `next`; this node lies in the first one.
  struct chain : lockfree::inbox_node<> {
    block* rest;
  };
  static_assert(sizeof(chain) <= detail::worker_base::k_small_block_bytes);

  block_depot() = default;
  block_depot(const block_depot&) = delete;
  block_depot& operator=(const block_depot&) = delete;
  ~block_depot();

  /// Adds a chain of k_chain blocks, linked by `next`.
  void put(block* first) noexcept;
  /// All chains, linked by their nodes; nullptr if there are none.
  chain* take_all() noexcept;
  /// The blocks of a chain, linked by `next`. Ends the node.
  static block* open(chain* c) noexcept;

  /// Gives blocks, linked by `next`, back to their slabs.
  static void release(block* first) noexcept;

private:
  lockfree::inbox<> chains_;  // several workers may take
  std::atomic<unsigned> count_{0};
};

/// Cuts new blocks of one size from slabs. One worker only.
class block_slab {
public:
  static constexpr std::size_t k_bytes = std::size_t{1} << 16;  // of address space; a slab begins at a multiple

  explicit block_slab(std::size_t block_bytes) noexcept : block_bytes_(block_bytes) {}
  block_slab(const block_slab&) = delete;
  block_slab& operator=(const block_slab&) = delete;
  ~block_slab();

  /// Some new blocks, linked by `next`, and their number. May throw std::bad_alloc.
  block_depot::block* cut(unsigned& count);

private:
  std::size_t block_bytes_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace shoal::sched
