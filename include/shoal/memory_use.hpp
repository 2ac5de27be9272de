// SPDX-License-Identifier: Apache-2.0
// Who holds a node's memory: now, and at most so far.
//   const shoal::memory_usage here = shoal::memory_use(shoal::node_id());
//   std::puts(shoal::describe(shoal::memory_use()).c_str());     // all nodes together: a table, the largest holders
// Who may call: tasks. memory_use() switches tasks and reads files of /proc on each node: milliseconds.
// Complexity: memory_use(node) one call; memory_use() one per node, along a tree.
// Guarantees: arrays, tables and copies are counted when their memory is taken and given back, never on an access or a
// switch. Limits: the heap is counted where the names below say so; strings and vectors inside of entries are not.
// Shown by tests/cluster/memory_use_test.cpp, tests/unit/array/memory_ledger_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/array_options.hpp"

namespace shoal {

struct memory_amount {
  std::uint64_t bytes = 0;
  std::uint64_t most_bytes = 0;  // at any time since the node began; of several nodes: the sum
};

/// A global array, or the tables of a container.
struct memory_holder {
  std::string what;         // "array of 1000 elements of 8 bytes", "global_map"
  std::string name;         // array_options::name; may be empty
  std::string place;        // in the source, where it was made: "src/rank.cpp:41"; may be empty
  std::uint64_t count = 1;  // that are alike in all these: of one node several, or the parts of several nodes
  memory_amount memory;
};

/// Of one node, or the sum of several.
struct memory_usage {
  static constexpr std::size_t k_most_holders = 32;

  std::uint32_t nodes = 1;  // in it

  std::uint64_t array_count = 0;       // parts of global arrays
  memory_amount arrays;                // in whole pages
  std::uint64_t array_huge_bytes = 0;  // of these, on pages of 2 MiB or 1 GiB when they were allocated
  memory_amount tables;                // of containers
  memory_amount copies;                // of arrays, for checkpoints that are being written

  std::uint64_t stacks = 0;                 // made, in steps of up to 32: at least as many as were ever in use at once
  std::uint64_t stack_resident_bytes = 0;   // pages that they have now
  std::uint64_t stack_huge_bytes = 0;       // of these, on pages of 2 MiB or 1 GiB
  std::uint64_t stack_committed_bytes = 0;  // what they could take; the most so far, since stacks are kept
  std::uint64_t stack_reserved_bytes = 0;   // address space

  memory_amount blocks;                     // of small tasks. Those of a process count for its first node
  std::uint64_t buffer_resident_bytes = 0;  // aggregation buffers that have been used, which they are for good
  std::uint64_t buffer_reserved_bytes = 0;  // all that may be
  std::uint64_t waiting_bytes = 0;          // handlers' commands and calls that cannot be sent yet
  std::uint64_t waiting_limit_bytes = 0;    // the setting overflow_memory

  std::uint64_t registrations = 0;  // of memory with network libraries
  std::uint64_t registered_bytes = 0;

  std::uint64_t usable_bytes = 0;  // that the node's machine still has; of several nodes: the least

  std::vector<memory_holder> holders;  // the largest, at most k_most_holders
};

/// Of a node of this job. Throws shoal::error (invalid_argument) if there is no such node.
memory_usage memory_use(std::uint32_t node);
/// Of all nodes of this job.
memory_usage memory_use();

/// A table for people, without a line feed at its end. Any thread.
std::string describe(const memory_usage& use);

namespace detail {

class memory_meter_entry;

enum class container_kind : std::uint8_t { map, set, multimap, vector, queue, counter };

/// What a container's tables on this node take. Made and destroyed by tasks of the node; the others: any thread.
class memory_meter {
public:
  memory_meter(container_kind what, const allocation_label& label);
  memory_meter(const memory_meter&) = delete;
  memory_meter& operator=(const memory_meter&) = delete;
  ~memory_meter();

  void take(std::uint64_t bytes) noexcept;
  void give_back(std::uint64_t bytes) noexcept;

private:
  memory_meter_entry* entry_;
};

}  // namespace detail
}  // namespace shoal
