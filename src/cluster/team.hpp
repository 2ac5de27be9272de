// SPDX-License-Identifier: Apache-2.0
// The teams of a node: messages that members on other nodes have sent and this node has not taken yet, by team and key.
// Who may call: deliver(): inside a poll; the other functions: tasks. take() switches.
// Guarantees: each letter is taken once; a letter for a team that this node has not entered yet is kept.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "shoal/detail/worker.hpp"

namespace shoal::detail {

class team_state {
public:
  explicit team_state(std::uint64_t id) noexcept : id_(id) {}

  std::uint64_t id() const noexcept { return id_; }
  std::uint64_t next_sequence() noexcept { return sequence_++; }

  void send(std::uint32_t node, std::uint64_t key, std::span<const std::uint64_t> words);
  std::vector<std::uint64_t> take(std::uint64_t key);
  void deliver(std::uint64_t key, std::span<const std::uint64_t> words);

private:
  std::uint64_t id_;
  std::uint64_t sequence_ = 0;
  std::mutex lock_;  // never held over a wait
  std::map<std::uint64_t, std::vector<std::uint64_t>> letters_;
  std::uint64_t awaited_key_ = 0;
  suspended* waiter_ = nullptr;
};

}  // namespace shoal::detail

namespace shoal::cluster {

class node_teams {
public:
  explicit node_teams(std::uint32_t node) noexcept : next_id_(std::uint64_t{node} << 40) {}

  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  detail::team_state& of(std::uint64_t id);
  void forget(std::uint64_t id) noexcept;

private:
  std::atomic<std::uint64_t> next_id_;  // partners: other workers
  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::unique_ptr<detail::team_state>> teams_;
};

}  // namespace shoal::cluster
