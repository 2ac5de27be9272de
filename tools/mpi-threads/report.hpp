// SPDX-License-Identifier: Apache-2.0
// What a process says of its run: a JSON object in a file of the reports' folder, or a table. The command sums the
// objects of all processes. Who may call: the thread that ends MPI. Shown by tests/unit/mpi_threads/arbiter_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "shoal/lock_meter.hpp"
#include "tools/mpi-threads/arbiter.hpp"

namespace shoal::mpi_threads {

struct process_report {
  std::string mpi;     // "openmpi", "mpich", "custom"
  std::string state;   // "running", "finished", "aborted", "passed": did not ask for threads
  std::string level;   // with which the library was initialised
  std::string reason;  // a function that the program uses and that must go without the lock; or nothing
  settings chosen;
  arbiter_sum sum;
  double dangling_average = 0;  // requests complete and not yet freed, over samples
  std::uint64_t dangling_most = 0, dangling_samples = 0;
  double outstanding_average = 0;
  std::optional<lock_report> entries;  // of calls that return at once, seen from outside (entry_meter)
};

std::string report_json(const process_report& report, std::span<const char* const> names);
std::string report_table(const process_report& report, std::span<const char* const> names);

/// Into the folder if one is set (one file per process, replaced), else the table to standard error at the end.
void publish(const process_report& report, std::span<const char* const> names);

}  // namespace shoal::mpi_threads
