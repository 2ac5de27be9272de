// SPDX-License-Identifier: Apache-2.0
// Frames between a node and the hub after the handshake: a header (length of the payload, type) and the payload. Who
// may call: any thread, a reader one at a time. Never switches tasks.
// Guarantees: after invalid bytes a reader is broken, without other effects; it holds the bytes received and at most
// one frame of k_most_frame_bytes. Tests: tests/unit/launch/frame_test.cpp, tests/fuzz/frame_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shoal::launch {

enum class frame_type : std::uint8_t {
  hello = 1,  // node -> hub: who I am
  welcome,    // hub -> node: all nodes are there, with their addresses
  refusal,    // hub -> node: the job does not begin, and why
  given,      // node -> hub: my part of an exchange
  parts,      // hub -> node: the parts of some nodes, or of all, as one block
  life,       // both: a sign of life; of a node also whether it sends them regularly
  leave,      // node -> hub: my end is no loss
  lost,       // both: a node is lost, and why
  stop,       // hub -> node: the job is to stop by a signal
};

inline constexpr std::size_t k_frame_header_bytes = 8;
/// Of one node's part of an exchange.
inline constexpr std::size_t k_most_part_bytes = std::size_t{16} << 20;
inline constexpr std::size_t k_most_frame_bytes = k_most_part_bytes + 64;

struct frame {
  frame_type type{};
  std::vector<std::byte> payload;
};

/// Header and payload. The payload is at most k_most_frame_bytes.
std::vector<std::byte> frame_bytes(frame_type type, std::span<const std::byte> payload);

class frame_reader {
public:
  void add(std::span<const std::byte> bytes);
  /// The next whole frame, or nothing (yet).
  std::optional<frame> next();
  /// What has arrived is no frame; nothing comes any more.
  bool broken() const noexcept { return broken_; }

private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  bool broken_ = false;
};

}  // namespace shoal::launch
