// SPDX-License-Identifier: Apache-2.0
// A message that waits for its receive, or is on its way to the receiver's worker.
// Who may call: the worker that has it. Nothing here switches tasks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi-abi/mpi.h"
#include "rank/communicator.hpp"
#include "rank/handle.hpp"
#include "rank/matching.hpp"
#include "sched/worker.hpp"

namespace shoal::rank {

class rank_state;
struct request;

struct message final : handle_object {
  static constexpr object_kind k_kind = object_kind::message;
  static constexpr int k_error = MPI_ERR_REQUEST;
  static constexpr const char* k_name = "message";

  message() noexcept : handle_object(k_kind) { waiting.of = this; }

  struct in_queue : waiting_message {
    message* of = nullptr;
  } waiting;
  std::uint64_t bytes = 0;
  rank_state* to = nullptr;
  communicator_use probed_in;  // of a matched probe
  // Where its bytes are: packed behind this object; else in the memory of a request of this process, which then
  // completes; else at another node, which has the request.
  request* sender = nullptr;
  std::uint64_t sender_there = 0;
  std::uint64_t memory_there = 0;  // the address of its bytes, if they lie one behind the other
  std::uint32_t node = 0;          // of that request, or where it comes from
  std::uint32_t worker_there = 0;  // of that request
  bool fills_window = false;       // from another process, with its bytes; see eager_windows
  // In memory: which rank of this process counts its bytes; see rank_state::eager_bytes.
  rank_state* counted_by = nullptr;
  bool buffered = false;  // these bytes are of the buffer that this rank has attached
  struct delivery : sched::errand {
    message* of = nullptr;
  } to_worker;

  bool is_packed() const noexcept { return sender == nullptr && sender_there == 0; }
  std::byte* packed() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

  /// With room for so many packed bytes. May throw std::bad_alloc.
  static message& make(rank_state& to, const envelope& sent, std::uint64_t bytes, bool packed);
  /// Ends it; what counted its bytes is told.
  static void end(message& m) noexcept;
  static message& of(waiting_message& w) noexcept { return *static_cast<in_queue&>(w).of; }
};

}  // namespace shoal::rank
