// SPDX-License-Identifier: Apache-2.0
// The facts about the machine in every JSON report, so that results of different machines are not compared by accident.
// Reads /proc and /sys at each call; an unreadable value is "unknown" or 0, never an error.
// Who may call: any thread, outside tasks (reads files). Test: tests/unit/bench/report_test.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::bench {

struct machine_facts {
  std::string cpu_model;
  int cores = 0;  // processors that this process may use
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string huge_pages;         // transparent huge pages for anonymous memory: always, madvise or never
  std::string shared_huge_pages;  // the same for shared memory
  std::int64_t reserved_huge_pages = 0;
};

machine_facts read_machine_facts();

}  // namespace shoal::bench
