// SPDX-License-Identifier: Apache-2.0
// Messages of operations on objects of nodes: receiver, place of the object, arguments. Operations of one kind on one
// object, written one behind the other, share a message: it grows in the open buffer. So an operation costs the words
// of its arguments, and its receiver is called once for many.
// Who may call: begin_ functions tasks, on their worker (begin_operation() handlers, too); they switch when buffers are
// full. try_ functions neither wait nor switch.
// Guarantees: messages are executed in the order in which they were written.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {

/// Room for a message of an operation, its place written. The caller writes `words` words and advances the cursor.
inline stream& begin_operation(worker_base& w, std::uint32_t node, std::uint64_t code, std::uint64_t place,
                               std::size_t words) {
  stream& s = begin_message(w, node, code, 1 + words);
  *s.cursor++ = place;
  return s;
}

/// Most words of a message that grows: what it does in place stays short.
inline constexpr std::size_t k_most_growing_words = 256;

constexpr std::uint64_t message_header(std::size_t words, std::uint64_t code) noexcept {
  return header(static_cast<std::uint8_t>(other_operation::call), words, code);
}

/// Makes the last message to a node longer by `words`, for the caller to write, if it is for the same receiver and
/// object, nothing was written behind it, and there is room. Else nullptr.
inline std::uint64_t* grow_message(port& p, std::uint32_t node, std::uint64_t code, std::uint64_t place,
                                   std::size_t words) noexcept {
  peer_port& to = p.peers[node];
  stream& s = to.requests;
  if (to.growing == 0 || s.cursor + words > s.limit) return nullptr;
  std::uint64_t* const at = s.limit - to.growing;
  const auto size = static_cast<std::size_t>(s.cursor - at - 1);
  if (*at != message_header(size, code) || at[1] != place || size + words > k_most_growing_words) return nullptr;
  *at = message_header(size + words, code);
  if (!to.awaited) [[unlikely]]
    await_buffer(p, node);
  return std::exchange(s.cursor, s.cursor + words);
}

/// Room for the arguments of an operation that shares messages: the caller writes all of them.
inline std::uint64_t* begin_shared(worker_base& w, std::uint32_t node, std::uint64_t code, std::uint64_t place,
                                   std::size_t words) {
  port& p = *w.port;
  if (std::uint64_t* const at = grow_message(p, node, code, place, words); at != nullptr) [[likely]] {
    ++p.async_issued;
    return at;
  }
  stream& s = begin_operation(w, node, code, place, words);
  p.peers[node].growing = static_cast<std::uint32_t>(s.limit - s.cursor) + 2;
  return std::exchange(s.cursor, s.cursor + words);
}

/// The same without waiting: nullptr if there is no room. The caller has counted the operation in async_issued; another
/// may share the message if this one `shares` it.
inline std::uint64_t* try_begin_shared(port& p, std::uint32_t node, std::uint64_t code, std::uint64_t place,
                                       std::size_t words, bool shares) noexcept {
  if (shares)
    if (std::uint64_t* const at = grow_message(p, node, code, place, words); at != nullptr) return at;
  peer_port& to = p.peers[node];
  stream& s = to.requests;
  if (!try_room_for(p, node, words + 2)) return nullptr;
  s.cursor[0] = message_header(words + 1, code);
  s.cursor[1] = place;
  to.growing = shares ? static_cast<std::uint32_t>(s.limit - s.cursor) : 0;
  if (!to.awaited) [[unlikely]]
    await_buffer(p, node);
  s.cursor += 2;
  return std::exchange(s.cursor, s.cursor + words);
}

}  // namespace shoal::detail
