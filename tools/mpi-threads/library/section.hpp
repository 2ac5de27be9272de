// SPDX-License-Identifier: Apache-2.0
// Collective calls that have no non-blocking twin (most constructors, MPI_Win_fence, ...): they wait for other
// processes with the lock held. So first all members meet without it (MPI_Ibarrier) and agree on the call's place in an
// order that all processes share (total_order). Who has its turn meets the others once more, and enters only when all
// have theirs: so no process holds its lock for one who still answers another call. The earliest of all pending calls
// always gets there, for its members wait without the lock, and no process is in two such calls at once.
// Who may call: the wrappers. Shown by tests/mpi (sections.c).
#pragma once

#include "tools/mpi-threads/library/wrapping.hpp"
#include "tools/mpi-threads/total_order.hpp"

namespace shoal::mpi_threads {

extern total_order* g_order;
extern MPI_Comm g_world;  // all processes, for our own messages

// All members of the communicator are in this call; `number` is what they agreed on, to be given to leave_section().
int meet(const inside& in, int call, MPI_Comm comm, std::int64_t* number);
// The end of a meeting of other kinds: our number is fixed.
void leave_section(std::int64_t number);
// Waits for the turn; MPI_ERR_OTHER if MPI ends meanwhile.
int await_turn(std::int64_t number);

// All members have their turn in this call.
int meet_again(const inside& in, int call, MPI_Comm comm);

template <typename Confirm, typename Call>
int in_turn(const inside& in, int call, std::int64_t number, Confirm&& confirm, Call&& work) {
  struct end {
    std::int64_t number;
    ~end() { leave_section(number); }
  } const at_end{number};
  if (const int code = await_turn(number); code != MPI_SUCCESS) return code;
  if (const int code = confirm(); code != MPI_SUCCESS) return code;
  return held(in, call, k_high, work);
}

template <typename Call>
int section(int call, MPI_Comm comm, Call&& work) {
  const inside in(call);
  if (!g_meets) return unlocked(in, work);
  if (comm == MPI_COMM_NULL) return held(in, call, k_high, work);  // the library says what it thinks of it
  std::int64_t number = 0;
  const int code = meet(in, call, comm, &number);
  if (code != MPI_SUCCESS) return code;
  return in_turn(
      in, call, number, [&] { return meet_again(in, call, comm); }, work);
}

}  // namespace shoal::mpi_threads
