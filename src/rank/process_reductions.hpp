// SPDX-License-Identifier: Apache-2.0
// Reductions and scans in several processes: the elements of a process's ranks are combined first, then those of the
// processes, over the algorithms of src/collectives.
// Who may call: a task on the leader's worker; it switches tasks. Throws mpi_error where calls do not fit.
// Complexity: messages as of these algorithms, among processes. Memory: a few vectors; but where the order of ranks is not
// that of processes, and the operation does not commute or is a scan, those of all ranks.
// Source: MPI 5.0, 6.9 to 6.11. Test: tests/conformance, with several processes.
#pragma once

#include "rank/execute.hpp"
#include "rank/leader_link.hpp"

namespace shoal::rank {

/// `calls`: those of this process, by rank; not of an intercommunicator. `runs`: of the rank whose task this is, or
/// nullptr.
void reduce_between(leader_link& link, const communicator& in, collective_calls calls, const collective_call* runs);

}  // namespace shoal::rank
