// SPDX-License-Identifier: Apache-2.0
// The messages between the members of a team: sending them; their receivers call team_state.
// Who may call: tasks; send_grant handlers, too. They switch tasks when buffers are full (in a handler never);
// spread_failure always.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cluster/team_state.hpp"

namespace shoal::detail {

/// A whole message, at most 8 KiB.
void send_letter(std::uint32_t node, const letter_head& head, std::span<const std::byte> bytes);
/// Asks the receiver for leave to send a message; it grants it when it expects the message.
void send_request(std::uint32_t node, const letter_head& head);
/// `name` as the sender knows it: with the rank of the receiver, which is this member.
void send_grant(std::uint32_t node, std::uint64_t team, const letter_name& name);
/// The message, in parts.
void send_parts(std::uint32_t node, const letter_head& head, std::span<const std::byte> bytes);
/// How many bytes of messages from `node` have been taken here since the beginning.
void send_taken(std::uint32_t node, std::uint64_t team, std::uint64_t bytes);
/// To the right neighbour: what this member calls.
void send_announcement(std::uint32_t node, std::uint64_t team, std::uint64_t group, std::uint32_t rank,
                       std::uint64_t number, called what);
/// Tells the nodes beside this one in a tree of all nodes, but for `from`; returns when all behind them know, too. A node
/// that learns of a failure for the first time tells those beside it, so 2 messages pass each edge at most.
void spread_failure(std::uint64_t team, const team_failure& f, std::uint32_t from);

}  // namespace shoal::detail
