// SPDX-License-Identifier: Apache-2.0
// The profile of an MPI program's ranks, from their first to their last: node 0 prints it to standard error for all
// processes, and writes the files.
// Who may call: the task that starts the ranks of a node; begin() and end() the task of a rank. report() switches tasks.
// Errors: shoal::error names the file that cannot be written.
// Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "rank/profile.hpp"
#include "shoal/team.hpp"

namespace shoal::runtime {

/// What is known of the program before it runs.
struct rank_profile_wish {
  std::string file;  // for JSON; a picture with the ending .svg goes beside it. Empty: none
  // Of each copy of the program.
  std::uint64_t copy_bytes = 0;
  std::uint64_t shared_bytes = 0;
  unsigned copy_mappings = 0;
};

class rank_report {
public:
  /// From now on the ranks are profiled.
  rank_report(const rank::job_ranks& of, rank_profile_wish wish, std::size_t stack_bytes);
  ~rank_report();
  rank_report(const rank_report&) = delete;
  rank_report& operator=(const rank_report&) = delete;

  void begin(rank::rank_state& r) noexcept { profile_.at(r).begin(r); }
  /// `frame`: of the function that calls main(), on the stack of main().
  void end(rank::rank_state& r, const void* frame) noexcept;
  /// All nodes together, when their ranks have ended.
  void report(team& nodes);

private:
  std::string own_text() const;

  const rank::job_ranks& ranks_;
  const rank_profile_wish wish_;
  const std::size_t stack_bytes_;
  const std::uint64_t bytes_before_;
  rank::job_profile profile_;
};

}  // namespace shoal::runtime
