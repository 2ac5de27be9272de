// SPDX-License-Identifier: Apache-2.0
// The payloads of frames (frame.hpp) that are more than a node's own bytes. Who may call: any thread. Never switches
// tasks. Guarantees: parse() of arbitrary bytes gives nothing or a message whose bytes are those; texts from other
// nodes are printable. Shown by tests/unit/launch/frame_test.cpp, tests/fuzz/frame_fuzz.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/frame.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {

/// A process of a job, for people.
struct peer {
  std::uint32_t pid = 0;
  std::string host;
  bool operator==(const peer&) const = default;
};

struct hello_message {
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  peer me;
  std::string code;
  std::string settings;

  std::vector<std::byte> bytes() const;
  static std::optional<hello_message> parse(std::span<const std::byte> payload);
};

struct welcome_message {
  std::int64_t silence_ns = 0;
  peer hub;
  std::vector<peer> nodes;

  std::vector<std::byte> bytes() const;
  static std::optional<welcome_message> parse(std::span<const std::byte> payload);
};

struct refusal_message {
  errc code = errc::mismatch;
  std::string why;

  std::vector<std::byte> bytes() const;
  static std::optional<refusal_message> parse(std::span<const std::byte> payload);
};

/// lost and stop.
struct loss_message {
  std::uint32_t node = 0;
  std::uint32_t signal = 0;
  std::string why;

  std::vector<std::byte> bytes() const;
  static std::optional<loss_message> parse(std::span<const std::byte> payload);
};

/// What would disturb a terminal becomes '?'.
std::string printable(std::string text);

/// How often each end of a connection sends a sign of life. Several fit into `silence_ns`, the time after which a
/// silent peer is lost, so that one may be late. Not for a limit of 0 (none).
inline std::int64_t beat_interval_ns(std::int64_t silence_ns) noexcept {
  return std::clamp<std::int64_t>(silence_ns / 5, 1'000'000, 1'000'000'000);
}

}  // namespace shoal::launch
