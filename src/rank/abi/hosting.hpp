// SPDX-License-Identifier: Apache-2.0
// Threads and ranks. A thread that a rank makes belongs to that rank: its calls run as tasks on the rank's worker. A
// program that no host has loaded (any binary of the standard ABI) becomes the only rank of its process at MPI_Init.
// Who may call: threads that run no task.
#pragma once

#include "rank/rank.hpp"

namespace shoal::rank::abi {

/// Makes this process the node of a job with one rank. Called once, before other threads call MPI. Throws shoal::error.
rank_state& begin_unhosted();
/// The rank that begin_unhosted() has made; nullptr.
rank_state* unhosted_rank() noexcept;
/// Its main() has called MPI_Finalize: the job ends.
void end_unhosted();

/// Whether that has happened.
bool has_ended_unhosted() noexcept;
/// The calling thread, or the task of the rank, has called MPI_Init.
void note_main_thread() noexcept;
bool is_main_thread() noexcept;

/// The rank of the calling thread; nullptr: none.
rank_state* rank_of_thread() noexcept;

}  // namespace shoal::rank::abi
