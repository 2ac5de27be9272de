// SPDX-License-Identifier: Apache-2.0
// How the service thread learns that another node is gone: from the world that the nodes of a machine share, or from
// the hub. Who may call: wait() the service thread; unreachable() any thread. Blocks its thread; never switches tasks.
// Shown by tests/cluster/faults_test.cpp, tests/cluster/transports_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "launch/world.hpp"

namespace shoal::runtime {

class peer_watch {
public:
  virtual ~peer_watch() = default;
  /// News of a loss, at most after `timeout_ns` or when `wake_descriptor` is readable. To be called again and again.
  virtual std::optional<launch::loss> wait(std::int64_t timeout_ns, int wake_descriptor) noexcept = 0;
  /// The network says that it cannot reach this node.
  virtual void unreachable(std::uint32_t, const char*) noexcept {}
};

class world_watch final : public peer_watch {
public:
  world_watch(launch::world& world, std::uint32_t me, std::uint32_t nodes);
  ~world_watch() override;
  world_watch(const world_watch&) = delete;
  world_watch& operator=(const world_watch&) = delete;
  std::optional<launch::loss> wait(std::int64_t timeout_ns, int wake_descriptor) noexcept override;

private:
  void open_peers();
  void close_peers() noexcept;
  launch::loss loss_of(std::uint32_t node) noexcept;

  launch::world& world_;
  const std::uint32_t me_, nodes_;
  // By node, a descriptor of its process; -1: ours, or it left as it should. Last, who wakes us.
  std::vector<int> watched_;
};

class control_watch final : public peer_watch {
public:
  explicit control_watch(launch::control& control) : control_(control) {}
  std::optional<launch::loss> wait(std::int64_t timeout_ns, int wake_descriptor) noexcept override;
  void unreachable(std::uint32_t node, const char* why) noexcept override;

private:
  launch::control& control_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint32_t, std::string>> unreachable_;  // not yet announced
};

}  // namespace shoal::runtime
