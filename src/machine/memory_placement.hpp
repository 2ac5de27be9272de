// SPDX-License-Identifier: Apache-2.0
// The memory nodes (NUMA) that memory is taken from, where the first touch by a thread does not decide.
// Who may call: any thread, for itself. System calls; never switches tasks, and a task must not wait while a
// memory_placement exists.
// Guarantees: a placement that the system refuses (containers often do) changes nothing and says so; the policy that
// the thread had before, for instance by numactl, is back when the object ends. Test:
// tests/unit/machine/memory_placement_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::machine {

struct memory_node {
  unsigned number = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// Those of the machine, ascending; empty if the system does not say.
std::vector<memory_node> memory_nodes();
/// Those that this process may use, ascending; empty if the system does not say.
std::vector<unsigned> allowed_memory_nodes();

/// While it exists, pages that this thread takes lie on `nodes` in turn, or on the one, as long as these have memory.
class memory_placement {
public:
  explicit memory_placement(const std::vector<unsigned>& nodes) noexcept;
  memory_placement(const memory_placement&) = delete;
  memory_placement& operator=(const memory_placement&) = delete;
  ~memory_placement();

  /// 0, or why the system refuses: an errno.
  int refused() const noexcept { return refused_; }

private:
  static constexpr std::size_t k_mask_words = 16;  // 1024 memory nodes, as many as the kernel has at most
  using node_mask = std::array<unsigned long, k_mask_words>;

  int refused_ = 0;
  int policy_before_ = 0;
  node_mask mask_before_{};
};

/// How many memory nodes a sample of the pages lies on that are there; 0: the system does not say.
unsigned count_memory_nodes(const void* address, std::size_t bytes) noexcept;

}  // namespace shoal::machine
