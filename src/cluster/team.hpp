// SPDX-License-Identifier: Apache-2.0
// The teams of a node, by id, as messages find them. Who may call: of, find: also inside a poll; nothing here waits.
// Shown by tests/unit/cluster/team_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cluster/team_state.hpp"

namespace shoal::cluster {

class node_teams {
public:
  explicit node_teams(std::uint32_t node) noexcept : next_id_((std::uint64_t{node} << 40) + 1) {}

  /// Of teams, and of the groups that split() makes: never 0.
  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  /// Whoever executes a message of the team holds on to it: the member may leave meanwhile, on another worker.
  std::shared_ptr<detail::team_state> of(std::uint64_t id);
  /// The same for messages that may come after the member has left: nullptr then.
  std::shared_ptr<detail::team_state> find(std::uint64_t id);
  void forget(std::uint64_t id) noexcept;
  std::size_t size() noexcept;

private:
  std::atomic<std::uint64_t> next_id_;  // partners: other workers
  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<detail::team_state>> teams_;
};

}  // namespace shoal::cluster
