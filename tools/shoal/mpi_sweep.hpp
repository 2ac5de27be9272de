// SPDX-License-Identifier: Apache-2.0
// How many ranks a process has: what `--nfg` of shoal mpirun says, the choice that `auto` makes, and what several runs
// with different numbers took.
// Who may call: the command's main thread. Errors: shoal::error.
// Tests: tests/unit/tools/mpi_sweep_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tools {

/// What can be known before a run.
struct ranks_limits {
  unsigned processes = 1;  // on this machine
  unsigned workers = 1;    // of each
  std::uint64_t memory_bytes = 0;
  std::uint64_t mappings = 0;  // that a process may have
  // Of each copy of the program.
  std::uint64_t copy_bytes = 0;
  unsigned copy_mappings = 0;
};

/// Four ranks for each worker, so that a worker has three others while one waits; a power of two. Fewer where the
/// copies would need more than a quarter of the memory, or half of the mappings. It does not look at what the program does.
unsigned automatic_ranks(const ranks_limits& limits);

/// Throws if so many ranks cannot be in a process: the system does not let it have the mappings of their copies.
/// `simulated`: nodes of a simulated machine, each with so many ranks, are all in the process.
void check_ranks(unsigned ranks, const ranks_limits& limits, std::uint64_t simulated = 1);

inline constexpr unsigned k_most_ranks = 100'000;
/// "auto": nothing; "4": one number; "1,2,4": several.
std::vector<unsigned> read_ranks(std::string_view option);

struct sweep_run {
  unsigned ranks = 1;           // in each process
  int status = 0;               // of the last run that failed, or 0
  std::vector<double> seconds;  // of the job, from its start to its end; at least one

  double least() const;
  double median() const;
};
struct sweep_result {
  unsigned processes = 1;
  std::vector<std::string> program;
  std::vector<sweep_run> runs;
};

std::string sweep_table(const sweep_result& s);
std::string sweep_json(const sweep_result& s);
/// SVG.
std::string sweep_picture(const sweep_result& s);

}  // namespace shoal::tools
