// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. Whoever comes second, the sender or the receiver, copies once between the two buffers;
// short messages that come first are copied into memory of the library, so that their sender goes on.
// Who may call: tasks on the worker of `me`. begin_send() may switch tasks when it sends to another process; the others
// do not. Errors: mpi_error.
// Source: MPI 5.0, chapter 3. Tests: tests/conformance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rank/buffer.hpp"
#include "rank/communicator.hpp"
#include "rank/message.hpp"
#include "rank/rank.hpp"
#include "rank/request.hpp"

namespace shoal::rank {

/// Within a process messages of at most so many bytes may be copied before their receive is known, and so many bytes of
/// one sender, with what each message takes besides. To other processes see eager_windows.
inline constexpr std::uint64_t k_eager_bytes = 4096;
inline constexpr std::uint64_t k_most_eager_bytes = std::uint64_t{512} << 10;

/// Who sends to whom, or from whom; of the library's own messages if `internal`.
struct route {
  communicator* where = nullptr;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  bool internal = false;
  // Not 0: in the place of the context of `where`, and the peer is a rank of the world. Of messages between leaders, and of
  // persistent operations with neighbours.
  std::uint64_t context = 0;
};

/// Begins to send; nullptr: the buffer may be used again, and nothing remains to be done.
request* begin_send(rank_state& me, const buffer& data, const route& to, send_mode mode);
/// Begins to receive; the request may be complete already.
request& begin_receive(rank_state& me, const buffer& data, const route& from);
/// The same for requests that exist (persistent ones): with their own data, peer and tag.
void start_send(request& r);
void start_receive(request& r);

/// The message that a receive would take; nullptr: none yet.
message* find_message(rank_state& me, const route& from);
/// A message is taken out of the queue, for receive_taken().
void take(rank_state& me, message& m) noexcept;
request& receive_taken(rank_state& me, const buffer& data, message& m, communicator& where);
/// Returns when find_message() may give another result.
void await_arrival(rank_state& me, const wait_note& note);

/// False: it has been matched already.
bool cancel_receive(request& r) noexcept;

/// A message has come to the worker of m.to: a receive takes it, or it waits for one.
void arrive(message& m) noexcept;
/// A message with these bytes has come to the worker of `to`, while none waits to be delivered there. False: no receive
/// takes it yet, and nothing was done.
bool receive_at_once(rank_state& to, const envelope& sent, std::span<const std::byte> bytes) noexcept;
/// Fills the receive `r` with `m`, and ends the message.
void receive_message(request& r, message& m) noexcept;
/// What a request is to do, with whom.
void note_call(request& r, rank_state& me, const buffer& data, const route& with);
/// What a send that waits for its receive is.
void note_send(request& r, rank_state& me, const buffer& data, const route& to, send_mode mode);
/// A packed message counts as sent ahead by `me`.
void count_ahead(message& m, rank_state& me, send_mode mode) noexcept;
/// Completes a request from another worker.
void complete_from_elsewhere(request& r) noexcept;

}  // namespace shoal::rank
