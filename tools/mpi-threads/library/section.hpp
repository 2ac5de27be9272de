// SPDX-License-Identifier: Apache-2.0
// Collective calls that have no non-blocking version (most constructors, MPI_Win_fence, ...) wait for other processes
// while they hold the lock. To avoid a deadlock, all members first synchronise without the lock (MPI_Ibarrier) and
// agree on the position of the call in a global order (total_order). A process whose turn it is synchronises with the
// other members again, and enters the library only when all members have their turn. So no process holds its lock while
// a member still executes an earlier call. The earliest pending call always proceeds: its members wait without the
// lock, and no process executes two such calls at once.
// Who may call: the wrappers. Test: tests/mpi (sections.c).
#pragma once

#include "tools/mpi-threads/library/wrapping.hpp"
#include "tools/mpi-threads/total_order.hpp"

namespace shoal::mpi_threads {

extern total_order* g_order;
extern MPI_Comm g_world;  // all processes, for messages of this library

// The copy function of attributes of this library: duplicates do not inherit them.
int copy_none(MPI_Comm, int, void*, void*, void*, int* copied);

// The processes of a section: all of a communicator. With a tag they synchronise by messages with this tag, so several
// threads may do so over one communicator at the same time, with different tags; otherwise by collective operations.
struct members {
  members(MPI_Comm of, int with_tag = -1) : comm(of), tag(with_tag) {}
  MPI_Comm comm;
  int tag;
};

// Waits until all members are in this call. `number` receives the agreed number for leave_section().
int meet(const inside& in, int call, const members& all, std::int64_t* number);
// Ends the synchronisation of another kind of section: its number is fixed.
void leave_section(std::int64_t number);
// Waits for the turn; returns MPI_ERR_OTHER if MPI ends meanwhile.
int await_turn(std::int64_t number);

// Waits until all members have their turn in this call.
int meet_again(const inside& in, int call, const members& all);

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
int section(int call, const members& all, Call&& work) {
  const inside in(call);
  if (!g_meets) return unlocked(in, work);
  if (all.comm == MPI_COMM_NULL) return held(in, call, k_high, work);  // the library reports the error
  std::int64_t number = 0;
  const int code = meet(in, call, all, &number);
  if (code != MPI_SUCCESS) return code;
  return in_turn(
      in, call, number, [&] { return meet_again(in, call, all); }, work);
}

}  // namespace shoal::mpi_threads
