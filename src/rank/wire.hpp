// SPDX-License-Identifier: Apache-2.0
// Messages between ranks of two processes. Short ones travel with their bytes, as far as the window to the other process
// has room. Of others the receiver is told, and when
// their receive is known it reads the sender's memory (one copy, on one machine, where the system permits it), or asks
// for the bytes in pieces.
// Who may call: tasks on the worker of the rank that sends or receives; send_to_node() may switch tasks.
// Source: MPI 5.0, 3.5. Test: tests/conformance, with two processes.
#pragma once

#include <cstdint>

#include "rank/transfer.hpp"

namespace shoal::rank {

/// As begin_send(), to a rank of another process. `known`: the request of a persistent send, or nullptr.
request* send_to_node(rank_state& me, const buffer& data, const route& to, const envelope& sent, int world,
                      send_mode mode, request* known);
/// Fills the receive `r` with `bytes` bytes of `m`, which is at another node; completes it later. Ends `m`.
void fetch_from_node(request& r, message& m, std::uint64_t bytes) noexcept;
/// `to` has received a message of so many bytes that fills the window of `node`.
void return_window(rank_state& to, std::uint32_t node, std::uint64_t of_message) noexcept;

}  // namespace shoal::rank
