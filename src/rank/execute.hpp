// SPDX-License-Identifier: Apache-2.0
// Carries out a collective operation whose calls are all in this process: copies straight between the buffers of the
// ranks, and combines in the order of the ranks.
// Who may call: any worker, while no call's rank uses its buffers. Nothing here switches tasks, but a program's
// operations may call MPI. Throws mpi_error where calls do not fit.
// Source: MPI 5.0, chapter 6. Test: tests/conformance.
#pragma once

#include <span>

#include "rank/collective_call.hpp"
#include "rank/typed_memory.hpp"

namespace shoal::rank {

using collective_calls = std::span<collective_call* const>;

/// What combines: the operation and the datatype of one member. A function of the program must run on the thread of the
/// rank that has given it, with that rank's handle, so it is the member that carries the operation out; or, if that one
/// has none, because it is in the root's group, another one.
struct reducer {
  operation_ref op;
  const datatype* type = nullptr;
};
/// `runs`: nullptr, or of the member that carries the operation out.
reducer reducer_of(collective_calls calls, const collective_call* runs);

/// The combination of all, in the order of ranks, on elements as in the programs' buffers.
typed_memory combined(collective_calls calls, const reducer& by);
/// What a call gives to every rank: its block, or its elements to reduce.
buffer contribution_of(const collective_call& c);
/// Whether all are of one operation, with one root and one operation to reduce with, and reduce or broadcast as many bytes.
/// For execute(), which checks again, where other processes take part.
void check_calls(collective_calls calls, bool is_inter);

/// The following are for operations that other processes take part in: what is to do for the calls of this one.

/// The block that a call gives to a rank, and the one that it takes from a rank.
buffer send_block(const collective_call& c, int to);
buffer receive_block(const collective_call& c, int from);
/// Copies; throws if `to` is smaller.
void move_block(const buffer& from, const buffer& to);
void gather(collective_calls from, const collective_call& root);
void scatter(const collective_call& root, collective_calls to);
/// The blocks of ranks, packed one behind the other.
struct rank_blocks {
  std::span<const std::size_t> begins;  // and behind the last
  const std::byte* bytes;
};
void give_all(const rank_blocks& all, collective_calls to);
void all_to_all(collective_calls from, collective_calls to);
/// In place: each sends what it has where it receives.
void all_to_all_in_place(collective_calls calls);
/// Elements of MPI_Reduce_scatter's result for a rank.
MPI_Count results_of(const collective_call& c, int rank) noexcept;
/// `calls`: by rank. `of_lower`: what the ranks below theirs give together; nullptr: there are none.
void scan(collective_calls calls, const reducer& by, const buffer* of_lower);

/// Of one group: calls by rank.
void execute(collective_calls calls, const reducer& by);
/// Of an intercommunicator: each group's calls by rank.
void execute_between(collective_calls lower, collective_calls upper, const reducer& by);

}  // namespace shoal::rank
