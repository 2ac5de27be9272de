// SPDX-License-Identifier: Apache-2.0
// A collective operation between the two groups of an intercommunicator, in several processes: each process gives the
// others what its members' calls give to them, then carries out all calls as if they were its own.
// Who may call: a task on the leader's worker; it switches tasks. Throws mpi_error where calls do not fit.
// Complexity: messages to each process, for the groups are few and short-lived.
// Source: MPI 5.0, 6.2.3. Test: tests/conformance/intercommunicators.c.
#pragma once

#include <vector>

#include "rank/leader_link.hpp"

namespace shoal::rank {

/// `calls`: those of this process. `runs`: of the rank whose task this is, or nullptr.
void exchange_between_groups(leader_link& link, communicator& in, std::vector<collective_call*>& calls,
                             const collective_call* runs);

}  // namespace shoal::rank
