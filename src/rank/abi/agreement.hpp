// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator tell each other while they make objects together: collective operations and messages
// of the library's own.
// Who may call: tasks of ranks, all members in the same order. They wait.
#pragma once

#include <cstdint>
#include <span>

#include "rank/abi/entry.hpp"
#include "rank/collective_call.hpp"

namespace shoal::rank::abi {

/// What every member gives (of the other group, in an intercommunicator), in the order of ranks; one copy per process.
agreed_values all_gather(const caller& c, communicator& in, std::span<const std::int64_t> mine);
/// The values of a member of `in`; of an intercommunicator, roots are those of MPI_Bcast.
void broadcast(const caller& c, communicator& in, int root, std::span<std::int64_t> values);
/// What is made by messages whose tag comes from the program, so that they are not mistaken for others.
enum class making : std::uint8_t { of_members, of_groups, sides, bridge };
struct making_tag {
  making what;
  int tag;
};
/// Messages between two members.
void send(const caller& c, communicator& in, int to, const making_tag& tag, std::span<const std::int64_t> values);
void receive(const caller& c, communicator& in, int from, const making_tag& tag, std::span<std::int64_t> values);

}  // namespace shoal::rank::abi
