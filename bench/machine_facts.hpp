// SPDX-License-Identifier: Apache-2.0
// The facts about the machine that every JSON report carries, so that figures from different machines are not
// compared by accident. Read from /proc and /sys each time; what cannot be read is "unknown" or 0, never an error.
// Who may call: any thread, outside tasks (reads files). Shown by tests/unit/bench/report_test.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::bench {

struct machine_facts {
  std::string cpu_model;
  int cores = 0;  // that this process may use
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string huge_pages;         // transparent huge pages for anonymous memory: always, madvise or never
  std::string shared_huge_pages;  // and for shared memory
  std::int64_t reserved_huge_pages = 0;
};

machine_facts read_machine_facts();

}  // namespace shoal::bench
