// SPDX-License-Identifier: Apache-2.0
// The report of a process: a JSON object in a file of the reports' folder, or a table. The command sums the objects of
// all processes.
// Who may call: the thread that ends MPI. Test: tests/unit/mpi_threads/arbiter_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "shoal/lock_meter.hpp"
#include "tools/mpi-threads/arbiter.hpp"

namespace shoal::mpi_threads {

struct process_report {
  std::string mpi;     // "openmpi", "mpich", "custom"
  std::string state;   // "running", "finished", "aborted", "passed": did not request threads
  std::string level;   // the level with which the library was initialised
  std::string reason;  // a function of the program that cannot take the lock; or empty
  settings chosen;
  arbiter_sum sum;
  double dangling_average = 0;  // average of the samples: requests complete and not yet freed
  std::uint64_t dangling_most = 0, dangling_samples = 0;
  double outstanding_average = 0;
  std::optional<lock_report> entries;  // of calls that return at once, seen from outside (entry_meter)
};

std::string report_json(const process_report& report, std::span<const char* const> names);
std::string report_table(const process_report& report, std::span<const char* const> names);

/// Writes into the folder if one is set (one file per process, replaced), else prints the table on standard error at
/// the end.
void publish(const process_report& report, std::span<const char* const> names);

}  // namespace shoal::mpi_threads
