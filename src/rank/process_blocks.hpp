// SPDX-License-Identifier: Apache-2.0
// MPI_Gather, Scatter, Allgather and Alltoall in several processes: what the ranks of a process give goes to another
// process as one block, over the algorithms of src/collectives.
// Who may call: a task on the leader's worker; it switches tasks. `calls`: those of this process, by rank; not of an
// intercommunicator. Throws mpi_error where calls do not fit.
// Complexity: messages as of these algorithms, among processes. Memory: what the ranks here give and receive, once more.
// Source: MPI 5.0, 6.5 to 6.8. Test: tests/conformance, with several processes.
#pragma once

#include "rank/execute.hpp"
#include "rank/leader_link.hpp"

namespace shoal::rank {

void gather_between(leader_link& link, const communicator& in, collective_calls calls);
void scatter_between(leader_link& link, const communicator& in, collective_calls calls);
void all_gather_between(leader_link& link, const communicator& in, collective_calls calls);
void all_to_all_between(leader_link& link, const communicator& in, collective_calls calls);

}  // namespace shoal::rank
