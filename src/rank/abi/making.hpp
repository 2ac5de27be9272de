// SPDX-License-Identifier: Apache-2.0
// The communicators that ranks make together.
// Who may call: tasks of ranks, all members in the same order. They wait.
#pragma once

#include <memory>

#include "rank/abi/agreement.hpp"

namespace shoal::rank::abi {

/// Gives the calling rank its handle of the communicator of that context; MPI_COMM_NULL if it is no member.
MPI_Comm join(caller& c, context_id context, const group_ref& local, const group_ref& remote);
/// Errors of a new communicator go where those of its parent go. Gives it back.
MPI_Comm inherit(caller& c, communicator& parent, MPI_Comm made);
/// A number for a communicator that the calling rank leads.
context_id new_context(rank_state& me);
/// The groups of the ranks that give the same color, ordered by key; MPI_COMM_NULL for MPI_UNDEFINED.
MPI_Comm split(caller& c, communicator& in, int color, int key);
/// Of all members of `in`, those of `members`, which all give.
MPI_Comm create(caller& c, communicator& in, const group_ref& members);
/// The same for members in an order, with a topology: ranks of `in`.
MPI_Comm create_with(caller& c, communicator& in, const std::vector<int>& ranks,
                     std::shared_ptr<const topology> neighbours);
/// Of members of `in`, who alone take part; MPI_COMM_NULL for others.
MPI_Comm create_of(caller& c, communicator& in, const group_ref& members, const making_tag& tag);
/// An intercommunicator with the group whose leader has that rank in `peer_handle`; the leader of `local` alone gives both.
MPI_Comm connect(caller& c, communicator& local, int local_leader, MPI_Comm peer_handle, int remote_leader,
                 const making_tag& tag);
MPI_Comm handle_of_communicator(const rank_state& me, communicator& in) noexcept;
/// The values of the hint "mpi_hw_resource_type": those who share a machine, a process.
inline constexpr const char* k_machine_resource = "shoal://machine";
inline constexpr const char* k_process_resource = "shoal://process";
/// The hints of an info object, which may be MPI_INFO_NULL.
info_pairs pairs_of(MPI_Info h);

}  // namespace shoal::rank::abi
