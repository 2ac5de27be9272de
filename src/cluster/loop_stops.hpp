// SPDX-License-Identifier: Apache-2.0
// The stop requests of loops over nodes, calls, and groups of tasks at anywhere, on one node. The key of a loop is the node
// that began it, and that node's number for it. The shares of a group come and go: its key is entered more than once.
// Who may call: any worker of the node, also inside a poll. Nothing switches or waits.
// Guarantees: a request stops all shares of the loop, also those that begin later. It is kept until forget().
// Tests: tests/unit/cluster/loop_stops_test.cpp, tests/cluster/loop_test.cpp, stop_scope_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <tuple>
#include <utility>

namespace shoal::cluster {

class loop_stops {
public:
  struct key {
    std::uint32_t from;
    std::uint64_t id;
    bool operator<(const key& other) const noexcept { return std::tie(from, id) < std::tie(other.from, other.id); }
  };

  /// The number of a loop that this node begins.
  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  /// A share begins. Its stop token reports the request.
  std::stop_token enter(key k);
  /// The share has ended.
  void leave(key k) noexcept;
  void request(key k);
  /// Call it when no share of the loop runs or will begin.
  void forget(key k) noexcept;

  /// The number of loops with an entry.
  std::size_t size() const;

private:
  std::atomic<std::uint64_t> next_id_{1};  // partners: other workers
  mutable std::mutex lock_;
  struct loop {
    std::stop_source source;
    unsigned shares = 0;     // running
    bool requested = false;  // the entry stays until forget(); under the lock, and so before the source is asked
  };
  std::map<key, loop> loops_;
};

}  // namespace shoal::cluster
