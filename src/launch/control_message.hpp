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
  std::uint32_t nodes = 0;
  peer hub;
  peer first;  // node 0; the hub runs there or in the launcher

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

/// Consecutive nodes' parts of an exchange as one block: a table of their sizes, in which parts of one size in a row
/// take one entry, and then their bytes. Those of all nodes are in the block's own memory.
class parts_block {
public:
  static std::vector<std::byte> bytes(std::uint32_t first, std::span<const std::vector<std::byte>> parts);
  /// Nothing if it is no block of parts of nodes below `nodes`. The payload must live as long as the block.
  static std::optional<parts_block> parse(std::span<const std::byte> payload, std::uint32_t nodes);

  std::uint32_t first() const noexcept { return first_; }
  std::uint32_t count() const noexcept { return count_; }
  /// Calls take(node, bytes) for each.
  template <class Function>
  void for_each(Function&& take) const {
    std::uint32_t node = first_;
    auto left = bytes_;
    for (const run& r : runs_) {
      for (std::uint32_t i = 0; i < r.count; ++i) {
        take(node++, left.first(r.size));
        left = left.subspan(r.size);
      }
    }
  }

private:
  struct run {
    std::uint32_t count = 0;
    std::uint32_t size = 0;
  };

  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::vector<run> runs_;
  std::span<const std::byte> bytes_;
};

/// What would disturb a terminal becomes '?'.
std::string printable(std::string text);

/// How often each end of a connection sends a sign of life. Several fit into `silence_ns`, the time after which a
/// silent peer is lost, so that one may be late. Not for a limit of 0 (none).
inline std::int64_t beat_interval_ns(std::int64_t silence_ns) noexcept {
  return std::clamp<std::int64_t>(silence_ns / 5, 1'000'000, 1'000'000'000);
}

}  // namespace shoal::launch
