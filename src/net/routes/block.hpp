// SPDX-License-Identifier: Apache-2.0
// A message as it lies in the buffers between nodes: a word that says for whom it is, its label, its words. Nodes on
// the way read the first word only.
// Who may call: anyone. Test: tests/unit/net/routed_network_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/channel.hpp"
#include "net/wire.hpp"

namespace shoal::net {

struct block_head {
  std::uint32_t to = 0;        // node
  std::uint16_t sequence = 0;  // of those of one worker, for one node, in one class
  std::uint16_t size = 0;      // words behind the label; with k_urgent
  message_label label;

  static constexpr std::uint16_t k_urgent = 0x8000;  // somebody waits for it, or may: it does not wait for company

  std::size_t words() const noexcept { return size & (k_urgent - 1U); }
  bool is_urgent() const noexcept { return (size & k_urgent) != 0; }
};
inline constexpr std::size_t k_block_head_words = 4;
static_assert(sizeof(block_head) == k_block_head_words * sizeof(std::uint64_t));
inline constexpr std::size_t k_most_block_words = block_head::k_urgent - 1U;

inline block_head read_head(const std::uint64_t* at) noexcept {
  block_head h;
  std::memcpy(static_cast<void*>(&h), at, sizeof h);
  return h;
}

/// Two kinds more than message_kind has, which neighbours send each other at the end of a job. To the next hop towards
/// node 0: this node has ended, and so have all whose way to node 0 leads over it. Back: all nodes have.
inline constexpr std::uint8_t k_ended = 0xf0;
inline constexpr std::uint8_t k_all_ended = 0xf1;

/// The class of the buffers that carry it. What has no words is acknowledged by nobody and waits for nothing at its
/// receiver: it goes with replies.
inline traffic carried_as(const message_label& l) noexcept {
  return l.kind < k_traffic_classes ? static_cast<traffic>(l.kind) : traffic::reply;
}

}  // namespace shoal::net
