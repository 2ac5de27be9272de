// SPDX-License-Identifier: Apache-2.0
// A node's part of the global memory: its segment, where the segments of other nodes are mapped here, and on node 0 the
// leases of offsets.
// Who may call: set-up: the thread that makes the node. Allocation and freeing: tasks (they call all nodes and switch).
// Guarantees: memory is committed when an array is allocated, so that no later access fails for lack of memory; what
// the nodes of one machine take together is checked first.
// Shown by tests/unit/array/, tests/cluster/array_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "array/array_table.hpp"
#include "array/element_locks.hpp"
#include "array/memory_ledger.hpp"
#include "array/offset_heap.hpp"
#include "machine/page_choice.hpp"
#include "machine/segment.hpp"
#include "shoal/array.hpp"
#include "shoal/sync.hpp"

namespace shoal::array {

struct memory_options {
  machine::page_choice pages = machine::page_choice::huge_try;
  unsigned nodes_on_machine = 1;  // that share this machine's memory
  bool first_of_process = true;   // what the process has for all its nodes is reported with this one
};

struct commit_wish {
  detail::allocation_label label;
  array_pages pages = array_pages::as_set;
  memory_nodes placement = memory_nodes::first_touch;
};

struct committed_part {
  machine::commit_report pages;
  std::uint32_t memory_nodes = 0;  // that some of its pages were found on; 0: not known
  std::string placement;           // why it is not interleaved as wished; empty if it is
};

class node_memory {
public:
  /// `own` is mapped already. `bases`: by node, where segments are mapped here; null where only messages reach.
  node_memory(machine::segment& own, std::vector<std::byte*> bases, std::uint32_t node, memory_options options);

  std::byte* const* bases() const noexcept { return bases_.data(); }
  const array_table& arrays() const noexcept { return arrays_; }
  array_table& arrays() noexcept { return arrays_; }
  element_locks& locks() noexcept { return locks_; }
  std::uint64_t capacity_bytes() const noexcept { return own_.capacity(); }
  /// Its memory comes from a pool of large pages, and nothing else limits it.
  bool of_pool() const noexcept { return own_.pool_page_bytes() != 0; }
  std::uint32_t node() const noexcept { return node_; }
  const memory_options& options() const noexcept { return options_; }
  memory_ledger& ledger() noexcept { return ledger_; }
  const memory_ledger& ledger() const noexcept { return ledger_; }

  // On node 0:
  struct lease {
    std::uint64_t offset;
    std::uint32_t slot;
    std::uint32_t generation;
  };
  lease take(std::uint64_t bytes);
  void give_back(const lease& l, std::uint64_t bytes);

  // On every node that holds a part:
  /// All workers that are free take a share of the memory: about what a loop with a static_partitioner over the part
  /// gives them. May switch. Throws errc::out_of_memory; some of the memory may be taken then.
  committed_part commit(const detail::array_layout& layout, std::uint64_t bytes, const commit_wish& wish);
  void release(const detail::array_layout& layout, std::uint64_t bytes) noexcept;
  // On every node: its id is found from enter() to remove().
  void enter(const detail::array_layout& layout, std::span<const std::uint64_t> bounds);
  void remove(const detail::array_layout& layout) noexcept;
  /// Before enter() of an array of distribution::owned, in order: the owners of its blocks, some of them at a time.
  void add_owners(std::uint32_t slot, std::span<const std::uint32_t> owners);

private:
  void require_demanded(const machine::commit_report& got) const;
  machine::commit_report interleave(std::uint64_t begin, std::uint64_t bytes, machine::page_kind pages,
                                    std::string& why_not);
  machine::commit_report take_by_workers(std::uint64_t begin, std::uint64_t bytes, machine::page_kind pages);
  // Calls around(offset, take) for each piece, on all workers that are free.
  template <class Around>
  machine::commit_report take_in_pieces(std::uint64_t begin, std::uint64_t bytes, machine::page_kind pages,
                                        std::uint64_t piece_bytes, const Around& around);

  machine::segment& own_;
  std::vector<std::byte*> bases_;
  std::uint32_t node_;
  memory_options options_;
  array_table arrays_;
  memory_ledger ledger_;
  std::mutex owners_lock_;                                      // never held over a wait
  std::map<std::uint32_t, std::vector<std::uint32_t>> owners_;  // by slot, of arrays that are being made
  element_locks locks_;

  std::mutex leases_lock_;  // never held over a wait
  std::unique_ptr<offset_heap> leases_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t next_slot_ = 0;
  std::uint32_t next_generation_ = 1;
};

}  // namespace shoal::array
