// SPDX-License-Identifier: Apache-2.0
// Runs the ranks of an MPI program: in a job, on every node, each rank as a task with a stack of its own, on one worker.
// Who may call: run_ranks() the main task of a job, on node 0; it switches tasks and returns when all ranks have ended.
// A process runs one program; set_mpi_program() comes first, in every process of the job.
// Shown by tests/conformance.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rank/rank.hpp"
#include "runtime/rank_report.hpp"

namespace shoal::runtime {

struct mpi_program {
  unsigned ranks_per_node = 1;
  std::size_t stack_bytes = std::size_t{8} << 20;
  std::vector<std::string> command;          // its name and arguments, for MPI_INFO_ENV
  std::optional<rank_profile_wish> profile;  // none: nobody wants one
  /// main() of the program, for the calling rank; its exit status. Runs on that stack.
  std::function<int(rank::rank_state&)> run;
};

void set_mpi_program(mpi_program p);
bool hosts_mpi_program() noexcept;
/// Its name and arguments; else those of this process.
std::vector<std::string> shown_command();
/// Before code of a rank is unloaded: gives it its names in a trace.
void name_traced_code(const rank::rank_state& of);
/// The status of the job: that of the first rank, in the order of the world, whose status is not 0.
int run_ranks();

}  // namespace shoal::runtime
