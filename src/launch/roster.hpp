// SPDX-License-Identifier: Apache-2.0
// The hub's knowledge of a job's nodes: which have arrived, whether they are compatible, their parts of the current
// exchange, which have left. No input or output. Who may call: the hub, one thread at a time. Never switches tasks.
// Guarantees: parts are passed on when all nodes have sent theirs, so an exchange is complete for all nodes or for
// none.
// Tests: tests/unit/launch/roster_test.cpp, control_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "launch/control_message.hpp"

namespace shoal::launch {

class roster {
public:
  explicit roster(std::uint32_t nodes) : members_(nodes) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  /// Nothing: the node is in. Else why the job cannot begin with it.
  std::optional<refusal_message> come(const hello_message& hello);
  bool complete() const noexcept { return present_ == size(); }
  std::vector<std::uint32_t> missing() const;
  std::uint32_t missing_count() const noexcept { return size() - present_; }
  const peer& peer_of(std::uint32_t node) const noexcept { return members_[node].hello.me; }

  presence at(std::uint32_t node) const noexcept { return node < size() ? members_[node].now : presence::absent; }
  void leave(std::uint32_t node) noexcept;
  /// The first that has left, if any has.
  std::optional<std::uint32_t> left() const noexcept { return left_; }
  void end(std::uint32_t node) noexcept { members_[node].now = presence::gone; }
  std::string describe(std::uint32_t node) const;

  /// False if the node has given already.
  bool give(std::uint32_t node, std::vector<std::byte> part);
  bool all_given() const noexcept { return size() != 0 && given_ == size(); }
  bool any_given() const noexcept { return given_ != 0; }
  /// By node; the next exchange may begin.
  std::vector<std::vector<std::byte>> take_parts();

private:
  struct member {
    presence now = presence::absent;
    hello_message hello;
    std::optional<std::vector<std::byte>> part;
  };

  std::vector<member> members_;
  std::uint32_t first_come_ = 0;  // once present_ is not 0
  std::optional<std::uint32_t> left_;
  std::uint32_t present_ = 0;  // that have come
  std::uint32_t given_ = 0;
};

/// "node 1 (host b, process 123)".
std::string describe(std::uint32_t node, const peer& p);

}  // namespace shoal::launch
