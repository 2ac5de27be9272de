// SPDX-License-Identifier: Apache-2.0
// The lowest form of calls on other nodes: a function with a payload, executed by the worker that decodes it. Who may
// call: send() tasks (it may switch when buffers are full); a receiver runs inside a poll and must neither wait nor
// throw nor send: it spawns a task for work that may wait.
// Guarantees: the payload arrives unchanged; messages from a worker to a node are executed in order. Code is sent as
// image and offset; see src/remote/code.hpp. Tests: tests/unit/remote/handlers_test.cpp,
// tests/cluster/completion_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shoal/detail/port.hpp"
#include "shoal/detail/registered_body.hpp"

namespace shoal::detail {

struct arrival {
  worker_base& worker;  // that executes it
  std::uint32_t from;   // node
  std::span<const std::uint64_t> payload;
  std::span<const std::uint64_t> later =
      {};  // what follows it in the buffer: for prefetching. Then payload[-1] is its header
};

using receiver_function = void (*)(const arrival&) noexcept;
/// A receiver that is registered: receiver_of<f>().
using receiver = const typed_body<body_kind::receiver, receiver_function>&;

template <receiver_function F>
struct [[gnu::visibility("hidden")]] receiver_body {
  static void run(const arrival& a) noexcept { F(a); }
  static inline typed_body<body_kind::receiver, receiver_function> entry{run};
};
template <receiver_function F>
[[gnu::visibility("hidden")]] inline receiver receiver_of() noexcept {
  return receiver_body<F>::entry;
}

/// Most words of payload in one message.
inline constexpr std::size_t k_most_payload_words = 1536;

/// What names the receiver on every node.
std::uint64_t code_of(receiver function);

/// Room for a message to another node, behind its header: the caller fills `words` words and advances the cursor by
/// them.
inline stream& begin_message(worker_base& w, std::uint32_t node, std::uint64_t code, std::size_t words) {
  port& p = *w.port;
  stream& s = room_for(p, node, 1 + words);
  *s.cursor++ = header(static_cast<std::uint8_t>(other_operation::call), words, code);
  ++p.async_issued;
  if (!p.peers[node].awaited) [[unlikely]]
    await_buffer(p, node);
  return s;
}

/// Writes a message for `node`, which may be this one. May switch tasks.
void send(worker_base& w, std::uint32_t node, receiver function, std::span<const std::uint64_t> payload);

}  // namespace shoal::detail
