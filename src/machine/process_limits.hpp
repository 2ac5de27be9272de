// SPDX-License-Identifier: Apache-2.0
// Why the system refuses one more thread or process ("Resource temporarily unavailable"): five limits are answered with
// the same error; and the limit of open descriptors. Who may call: any thread; the rest after a refusal (it reads
// /proc). Never switches tasks.
// Guarantees: the sentence names the limit that has been reached as far as can be seen now, with its value, and what to
// do; otherwise all limits that are in force. Test: tests/unit/machine/process_limits_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "machine/control_group.hpp"

namespace shoal::machine {

/// What the system allows and what is in use now.
struct process_limits {
  process_group group;                             // of the control groups
  std::uint64_t user_limit = k_no_limit;           // ulimit -u; no limit for root
  std::uint64_t user_current = 0;                  // threads of this user, as far as /proc shows them
  std::uint64_t address_space_bytes = k_no_limit;  // ulimit -v
  std::uint64_t address_space_used_bytes = 0;
  std::uint64_t stack_bytes = 0;  // of a new thread: ulimit -s
  // Of the machine, where it promises no more memory than it has (vm.overcommit_memory 2).
  std::uint64_t commit_bytes = k_no_limit;
  std::uint64_t commit_used_bytes = 0;
};

process_limits read_process_limits();

/// "the control group allows 100 processes and threads (pids.max), and has 100; ..."
std::string describe_process_limits(const process_limits& limits);
std::string describe_process_limits();

/// Raises this process's limit of open descriptors to `count` if it is lower, or as far as it may (ulimit -Hn). Children
/// inherit it. Returns the limit then.
std::uint64_t allow_descriptors(std::uint64_t count) noexcept;

}  // namespace shoal::machine
