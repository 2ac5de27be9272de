// SPDX-License-Identifier: Apache-2.0
// How the service activity learns of the loss of a node: from the world that the nodes of a machine share, or from the
// hub.
// Who may call: look() and descriptors() the service activity; unreachable() any thread. Never blocks, never switches
// tasks.
// Tests: tests/cluster/faults_test.cpp, tests/cluster/transports_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "launch/world.hpp"

namespace shoal::runtime {

class peer_watch {
public:
  virtual ~peer_watch() = default;
  /// News of a loss. To be called again and again: when one of descriptors() is readable, and every few milliseconds.
  virtual std::optional<launch::loss> look() noexcept = 0;
  /// At least one; negative ones are to be skipped. Valid until the next look().
  virtual std::span<const int> descriptors() noexcept = 0;
  /// The network reports that it cannot reach this node.
  virtual void unreachable(std::uint32_t, const char*) noexcept {}
};

class world_watch final : public peer_watch {
public:
  world_watch(launch::world& world, std::uint32_t me, std::uint32_t nodes);
  ~world_watch() override;
  world_watch(const world_watch&) = delete;
  world_watch& operator=(const world_watch&) = delete;
  std::optional<launch::loss> look() noexcept override;
  std::span<const int> descriptors() noexcept override { return watched_; }

private:
  void open_peers();
  void close_peers() noexcept;
  launch::loss loss_of(std::uint32_t node) noexcept;

  launch::world& world_;
  const std::uint32_t me_, nodes_;
  // By node, a descriptor of its process; -1: ours, or it left as it should.
  std::vector<int> watched_;
};

class control_watch final : public peer_watch {
public:
  explicit control_watch(launch::control& control) : control_(control) {}
  std::optional<launch::loss> look() noexcept override;
  std::span<const int> descriptors() noexcept override;
  void unreachable(std::uint32_t node, const char* why) noexcept override;

private:
  launch::control& control_;
  int hub_ = -1;  // the result of descriptors()
  std::mutex mutex_;
  std::vector<std::pair<std::uint32_t, std::string>> unreachable_;  // not yet announced
};

}  // namespace shoal::runtime
