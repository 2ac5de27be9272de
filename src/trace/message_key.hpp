// SPDX-License-Identifier: Apache-2.0
// What the two events of a message have in common: its sending and its receipt.
// Who may call: any thread. Test: tests/unit/trace/timeline_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "trace/event.hpp"

namespace shoal::trace {

/// Nodes from and to, a worker, and the number of the message there. The worker is the sender's; with k_reply the one that
/// is answered; with k_mail the receiver's.
using message_key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
inline constexpr std::uint32_t k_reply = 1U << 31;
inline constexpr std::uint32_t k_mail = 1U << 30;

struct named_end {
  message_key key;
  bool is_send;
};
/// Of an event of worker `w` on `node`; nothing if it is none of a message.
inline std::optional<named_end> end_of_message(std::uint32_t node, std::uint32_t w, const event& e) {
  const auto number = static_cast<std::uint32_t>(e.value);
  switch (e.kind) {
    case event_kind::send: return named_end{{node, e.number, w, number}, true};
    case event_kind::receive: return named_end{{e.number, node, e.small, number}, false};
    case event_kind::reply_send: return named_end{{node, e.number, e.small | k_reply, number}, true};
    case event_kind::reply_receive: return named_end{{e.number, node, w | k_reply, number}, false};
    case event_kind::mail_send: return named_end{{node, e.number, e.small | k_mail, number}, true};
    case event_kind::mail_receive: return named_end{{e.number, node, w | k_mail, number}, false};
    default: return std::nullopt;
  }
}

}  // namespace shoal::trace
