// SPDX-License-Identifier: Apache-2.0
// What the control groups of this process (version 1 and 2, the process's own group and every group above it) allow:
// memory, processor time, and a number of processes. The tightest one counts.
// Who may call: any thread, at set-up (it reads files). Never switches tasks, never throws: what cannot be read is no
// limit. Inside a container the groups above its own cannot be seen; their limits then show only as refusals.
// `root` is put in front of every path, so that a test can show a tree of its own.
// Shown by tests/unit/machine/control_group_test.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace shoal::machine {

inline constexpr std::uint64_t k_no_limit = std::numeric_limits<std::uint64_t>::max();

struct memory_group {
  std::uint64_t limit_bytes = k_no_limit;
  std::uint64_t current_bytes = 0;
  std::uint64_t reclaimable_bytes = 0;  // file pages that count as used but give way when memory is asked for
  std::string path;                     // the directory of the group; empty if there is no limit

  /// How much can still be taken before the group's limit is reached.
  std::uint64_t available_bytes() const noexcept;
};

/// The group with the least memory left.
memory_group read_memory_group(const std::string& root = "");

struct process_group {
  std::uint64_t limit = k_no_limit;  // processes and threads
  std::uint64_t current = 0;
  std::string path;  // the directory of the group; empty if there is no limit
};

/// The group that can have the fewest more processes and threads.
process_group read_process_group(const std::string& root = "");

/// How many processors' worth of time the groups allow; infinity if there is no quota.
double read_cpu_quota(const std::string& root = "");

}  // namespace shoal::machine
