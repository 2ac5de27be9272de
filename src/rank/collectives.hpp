// SPDX-License-Identifier: Apache-2.0
// Collective operations: a rank leaves its call with the other members of its process, and the last one carries the
// operation out for all (execute.hpp). So blocking, non-blocking and persistent forms differ in who waits alone.
// Who may call: tasks on the rank's worker. begin_collective() does not wait for others, but the last one to call works
// for all. run_...() switch tasks.
#pragma once

#include "rank/collective_call.hpp"
#include "rank/request.hpp"

namespace shoal::rank {

/// A blocking call, which the caller fills in: it needs no request.
collective_call blocking_call(const rank_state& me, const communicator& in, collective kind) noexcept;
/// Returns when the operation is done for this rank; its error.
int run_collective(rank_state& me, communicator& in, collective_call& mine, const wait_note& note);
int run_barrier(rank_state& me, communicator& in, const wait_note& note);
/// Throws if there is one.
void check_end(int error);

/// A request for a call that the caller fills in.
request& new_collective(rank_state& me, communicator& in, collective kind);
/// Its request completes when the operation is done for this rank. The request may have completed when this returns.
void begin_collective(request& r);
/// For MPI_..._init, once the call is filled in: sets what begins the operation. The order of these calls is the same on
/// all members; that of the starts need not be.
void prepare_persistent_collective(request& r);
/// Takes the call's place in the order of its communicator's operations; begin_collective() can come later.
std::uint64_t next_collective(request& r) noexcept;
void begin_collective(request& r, std::uint64_t sequence);

}  // namespace shoal::rank
