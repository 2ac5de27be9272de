// SPDX-License-Identifier: Apache-2.0
// Collective calls that have no non-blocking twin (most constructors, MPI_Win_fence, ...). They must be made with the
// lock held, and then wait for other processes; so first all members meet without the lock (MPI_Ibarrier), then they
// agree on the call's place in an order that all processes share (total_order), and each enters the library when no
// earlier call is pending here. No deadlock: the earliest of all pending calls is first at each of its members, who are
// all there and wait for nothing but the lock, whose holder is in a call that returns, or in no earlier such call.
// Who may call: the wrappers. Shown by tests/mpi (mpi.sections).
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
// Waits for the turn.
void await_turn(std::int64_t number);

template <typename Call>
int in_turn(const inside& in, int call, std::int64_t number, Call&& work) {
  await_turn(number);
  struct end {
    std::int64_t number;
    ~end() { leave_section(number); }
  } const at_end{number};
  return held(in, call, k_high, work);
}

template <typename Call>
int section(int call, MPI_Comm comm, Call&& work) {
  const inside in(call);
  if (comm == MPI_COMM_NULL) return held(in, call, k_high, work);  // the library says what it thinks of it
  if (g_unserialized) return work();
  std::int64_t number = 0;
  const int code = meet(in, call, comm, &number);
  return code != MPI_SUCCESS ? code : in_turn(in, call, number, work);
}

}  // namespace shoal::mpi_threads
