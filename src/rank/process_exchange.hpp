// SPDX-License-Identifier: Apache-2.0
// A collective operation whose members are in several processes: the members of each are carried out together, and the
// first member of each process, its leader, exchanges with the other leaders, over the algorithms of src/collectives.
// Who may call: a task on the leader's worker.
#pragma once

#include <cstdint>
#include <vector>

#include "rank/collective_sites.hpp"
#include "rank/execute.hpp"

namespace shoal::rank {

/// Returns the error class. It sorts the calls; none: all have called MPI_Barrier. `runs`: the call of the rank whose task
/// this is, or nullptr. Switches tasks.
int exchange_between_processes(communicator& in, rank_state& leader, std::uint64_t sequence,
                               std::vector<collective_call*>& calls, const collective_call* runs) noexcept;
/// The same in a task of its own for the leader, whose call is given; it ends the operation. For any worker. Does not
/// switch tasks.
void begin_exchange(communicator& in, rank_state& leader, collective_site& site, const collective_call* of_leader);

/// For this and collectives.cpp: carries out calls that are all here; the error class.
int execute_here(const communicator& in, collective_calls calls, const collective_call* runs) noexcept;
/// Tells the ranks. On the worker of a member. `running`: its task runs, and need not be told.
void end_collective(collective_site& site, int error, const detail::suspended* running) noexcept;

}  // namespace shoal::rank
