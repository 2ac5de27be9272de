// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments that many functions have. They throw mpi_error.
#pragma once

#include <fmt/format.h>

#include "rank/abi/entry.hpp"
#include "rank/status.hpp"
#include "rank/transfer.hpp"

namespace shoal::rank::abi {

inline constexpr int k_tag_upper_bound = 0x7fff'ffff;

inline const datatype& committed_type(MPI_Datatype type) {
  const datatype& t = type_of(type);
  if (!t.is_committed()) throw mpi_error(MPI_ERR_TYPE, "the datatype is not committed; call MPI_Type_commit first");
  return t;
}

/// Throws mpi_error: more than a number can tell.
inline std::uint64_t checked_bytes(MPI_Count count, std::uint64_t size) {
  MPI_Count bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<MPI_Count>(size), &bytes))
    throw mpi_error(MPI_ERR_COUNT,
                    fmt::format("{} elements of {} bytes are more bytes than an MPI_Count can tell", count, size));
  return static_cast<std::uint64_t>(bytes);
}

inline buffer checked_buffer(const void* at, MPI_Count count, MPI_Datatype type) {
  if (count < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", count));
  const datatype& t = committed_type(type);
  static_cast<void>(checked_bytes(count, t.size()));
  if (at == nullptr && count != 0 && t.size() != 0 && t.is_solid())
    throw mpi_error(MPI_ERR_BUFFER, "the address of the buffer is null, and the count is not 0");
  return {const_cast<void*>(at), count, &t};
}

inline group_ref checked_group(MPI_Group h) {
  if (h == MPI_GROUP_EMPTY) return group::of_range(0, 0);
  if (h == MPI_GROUP_NULL) throw mpi_error(MPI_ERR_GROUP, "the group is MPI_GROUP_NULL");
  return group_ref(&object_of<group>(h));
}

inline void throw_if_failed(int error) {
  if (error != MPI_SUCCESS) throw mpi_error(error, "the operation failed");
}

inline void check_send_tag(int tag) {
  if (tag < 0) throw mpi_error(MPI_ERR_TAG, fmt::format("a message cannot have the tag {}", tag));
}

inline route destination(communicator& c, int rank, int tag) {
  check_send_tag(tag);
  if (rank != MPI_PROC_NULL && (rank < 0 || rank >= c.remote().size()))
    throw mpi_error(MPI_ERR_RANK, fmt::format("destination {} is not in 0 to {}", rank, c.remote().size() - 1));
  return {&c, rank, tag, false};
}

inline route source(communicator& c, int rank, int tag) {
  if (tag != MPI_ANY_TAG) check_send_tag(tag);
  if (rank != MPI_PROC_NULL && rank != MPI_ANY_SOURCE && (rank < 0 || rank >= c.remote().size()))
    throw mpi_error(MPI_ERR_RANK, fmt::format("source {} is not in 0 to {}", rank, c.remote().size() - 1));
  return {&c, rank, tag, false};
}

/// Waits until `r` has completed.
inline void await(const caller& c, request& r, wait_note::kind what) {
  if (r.complete) return;
  waiter w;
  r.awaited = &w;
  const wait_note note = c.note(what, r.where.get(), r.peer, r.wanted_tag);
  w.await(note);
}

/// The status of a request that has completed, as MPI_Status fields; then the request is gone, or can be started again.
/// Returns its error.
int collect(request& r, MPI_Status* status);

/// Why a request has failed that has completed with `error`: one sentence.
std::string failure_text(const request& r, int error);
/// What a function for several requests says of the first of them that failed.
void note_failure(std::string& first, std::size_t i, const std::string& why);

/// Its status, while it stays. Returns the error of the program's function that says it, for a generalized one.
int show(const request& r, MPI_Status* status);

/// Has others run now and then, for a program that asks in a loop whether something has happened.
void give_way(const caller& c) noexcept;

}  // namespace shoal::rank::abi
