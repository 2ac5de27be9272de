// SPDX-License-Identifier: Apache-2.0
// What a node does with a buffer of commands: one handler per operation, which executes a run of equal operations, with
// the memory of later ones prefetched meanwhile.
// Who may call: the server of a domain, one thread at a time. Handlers neither wait nor throw, nor
// allocate, but for what receivers of calls make tasks of.
// Guarantees: commands of a buffer are executed in order; a handler that finds no room for its reply stops in front of
// the command, and is called again when there is. Modifications are atomic unless `exclusive`.
// Shown by tests/unit/remote/handlers_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "aggregate/outbox.hpp"
#include "aggregate/overflow_memory.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/stream.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::remote {

struct serving {
  std::byte* base = nullptr;                             // of this node's segment
  std::uint64_t capacity_bytes = 0;                      // of this node's segment
  detail::worker_base* worker = nullptr;                 // that executes; null: calls are not executed
  std::uint32_t from = 0;                                // node
  const aggregate::overflow_memory* overflow = nullptr;  // stops calls of tasks; null: these are commands of handlers
  aggregate::outbox* replies = nullptr;
  detail::stream* reply_stream = nullptr;
  std::uint64_t executed = 0;  // commands

  bool room_for_reply(std::size_t words) noexcept {
    return reply_stream->cursor + words <= reply_stream->limit || replies->make_room(words);
  }
};

/// Executes commands equal in operation to the first; returns where it stopped. nullptr: it has come to a command that
/// no node sends, which points out of the segment or is cut off; nothing of it was done.
using handler = const std::uint64_t* (*)(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept;
using handler_table = std::array<handler, detail::k_operations>;

const handler_table& handlers(bool exclusive) noexcept;

/// How many words ahead of the executed command memory is prefetched.
inline constexpr std::ptrdiff_t k_prefetch_words = 32;

}  // namespace shoal::remote
