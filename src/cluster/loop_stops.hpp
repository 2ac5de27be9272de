// SPDX-License-Identifier: Apache-2.0
// The loops over nodes that run a share on this node and may be stopped: by the node that began them, and its number.
// Who may call: any worker of the node, also inside a poll. Nothing switches or waits.
// Guarantees: a request stops all shares of the loop, also those that begin later. It is kept until forget(). Shown by tests/cluster/loop_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

namespace shoal::cluster {

class loop_stops {
public:
  struct key {
    std::uint32_t from;
    std::uint64_t id;
    auto operator<=>(const key&) const = default;
  };

  /// For a loop that this node begins.
  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  /// A share begins: the token says whether, and when, a request comes.
  std::stop_token enter(key k);
  /// The share has ended.
  void leave(key k) noexcept;
  void request(key k);
  /// No share of the loop runs or will begin.
  void forget(key k) noexcept;

  /// How many loops it knows.
  std::size_t size() const;

private:
  std::atomic<std::uint64_t> next_id_{1};  // partners: other workers
  mutable std::mutex lock_;
  struct loop {
    std::stop_source source;
    unsigned shares = 0;  // that run
  };
  std::map<key, loop> loops_;
};

}  // namespace shoal::cluster
