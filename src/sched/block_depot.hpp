// SPDX-License-Identifier: Apache-2.0
// Memory blocks of small tasks (see worker_base), exchanged between workers: a thief frees the blocks of the tasks that it
// stole, and their owner needs new ones. Workers put and take whole chains of k_chain blocks, one atomic operation each.
// The depot keeps a bounded number of chains. The blocks of further chains go to the block_store of the process, from
// which all workers take before they cut new ones from a slab. A slab with all its blocks goes back to the system.
// Who may call: any worker of the pool. Nothing switches tasks; the store has a mutex. Guarantees: the depot keeps at most
// k_most_chains chains, and one more for each worker that puts at the same time. A block may outlive depot and pool.
// Magazines and depots: Bonwick & Adams, "Magazines and Vmem" (2001). Tests: tests/unit/sched/block_depot_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

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

  /// Gives blocks of one size, linked by `next`, to the store.
  static void release(block* first) noexcept;

private:
  lockfree::inbox<> chains_;  // several workers may take
  std::atomic<unsigned> count_{0};
};

struct slab;

/// The free blocks of one size that no worker and no depot keeps, by slab. One for each size in the process: blocks may
/// outlive their pool.
class block_store {
public:
  using block = block_depot::block;
  static constexpr unsigned k_most_spare = 4;  // slabs without a used block that are kept

  static block_store& of_size(std::size_t block_bytes) noexcept;

  /// Blocks linked by `next`, which may lie in any slabs of this size. O(blocks).
  void give(block* first) noexcept;
  /// At most `most` blocks, linked by `next`, and their number; nullptr if there are none. O(blocks).
  block* take(unsigned most, unsigned& count) noexcept;
  /// How many slabs of this size exist.
  std::size_t slabs() const noexcept { return slabs_.load(std::memory_order_relaxed); }
  /// The most so far.
  std::size_t most_slabs() const noexcept { return most_slabs_.load(std::memory_order_relaxed); }

private:
  friend class block_slab;
  /// The last `by` blocks of a slab will never be cut: their pages stay untouched.
  void shorten(slab& s, std::uint32_t by) noexcept;
  void count_slab() noexcept;
  void link_first(slab& s) noexcept;
  void link_last(slab& s) noexcept;
  void unlink(slab& s) noexcept;

  std::mutex lock_;        // of all below, and of the free blocks of all slabs; never held over a wait or a system call
  slab* first_ = nullptr;  // slabs with free blocks; those without a used block are last
  slab* last_ = nullptr;
  unsigned spare_ = 0;                 // of these, without a used block
  std::atomic<std::size_t> slabs_{0};  // partners: all workers
  std::atomic<std::size_t> most_slabs_{0};
};

/// Cuts new blocks of one size from slabs. One worker only.
class block_slab {
public:
  static constexpr std::size_t k_bytes = std::size_t{1} << 18;  // a slab begins at a multiple

  explicit block_slab(std::size_t block_bytes) noexcept : block_bytes_(block_bytes) {}
  block_slab(const block_slab&) = delete;
  block_slab& operator=(const block_slab&) = delete;
  ~block_slab();

  /// Some new blocks, linked by `next`, and their number. May throw shoal::error (out_of_memory).
  block_depot::block* cut(unsigned& count);

private:
  std::size_t block_bytes_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace shoal::sched
