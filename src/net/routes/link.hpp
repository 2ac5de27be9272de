// SPDX-License-Identifier: Apache-2.0
// The buffers from a node to a next hop, for one class of traffic. All workers of the node fill the open one together
// (lockfree/shared_fill.hpp), so that it is full W times sooner, and their number does not depend on W.
// Who may call: any thread. Nothing waits or switches tasks.
// Guarantees: blocks of one thread keep their order. Bounded: the channel's buffers.
// Test: tests/unit/net/routed_network_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lockfree/shared_fill.hpp"
#include "net/channel.hpp"

namespace shoal::net {

class route_link {
public:
  explicit route_link(out_channel& out) noexcept : out_(out), fill_(out.capacity_words()) {}

  /// Room for a block; null: none now. The caller fills it and calls copied(), soon.
  std::uint64_t* claim(std::size_t words) noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      const auto claim = fill_.claim(words);
      if (claim.at != lockfree::shared_fill<>::k_none) return open_.load(std::memory_order_relaxed) + claim.at;
      post(claim.to_post);
      if (!open_next()) break;
    }
    return nullptr;
  }
  void copied(std::size_t words) noexcept { post(fill_.copied(words)); }
  /// Sends the open buffer, if it has content.
  void close() noexcept { post(fill_.close()); }

  /// Hints, since others fill it too.
  std::uint64_t posted() const noexcept { return posted_.load(std::memory_order_relaxed); }
  bool is_idle() const noexcept { return out_.done() >= posted(); }

private:
  void post(std::size_t words) noexcept {
    if (words == 0) return;
    out_.post(words);
    posted_.fetch_add(1, std::memory_order_relaxed);
    fill_.posted();
  }
  bool open_next() noexcept {
    if (!fill_.begin_opening()) return true;  // another thread has opened one, or is about to
    std::uint64_t* const next = out_.acquire();
    if (next == nullptr) {
      fill_.cancel_opening();
      return false;
    }
    open_.store(next, std::memory_order_relaxed);
    fill_.open();
    return true;
  }

  out_channel& out_;  // of whoever posts or opens, one at a time
  lockfree::shared_fill<> fill_;
  std::atomic<std::uint64_t*> open_{nullptr};  // ordered by fill_
  std::atomic<std::uint64_t> posted_{0};       // buffers
};

}  // namespace shoal::net
