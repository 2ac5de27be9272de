// SPDX-License-Identifier: Apache-2.0
// Copies by the network itself (put and get of a domain) that a worker has begun: how many are in flight, in which order
// they began, and those who wait for them. A mark says how many had begun; it is reached when these have ended.
// Who may call: the worker. Nothing here switches tasks.
// Bounded: at most k_most are in flight. Test: tests/unit/remote/transfers_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "remote/stream_waiter.hpp"

namespace shoal::remote {

class transfers {
public:
  static constexpr std::uint64_t k_most = 64;

  bool empty() const noexcept { return begun_ == ended_; }
  bool full() const noexcept { return begun_ - ended_ == k_most; }
  std::uint64_t mark() const noexcept { return begun_; }
  /// Of the oldest one in flight.
  std::uint64_t oldest_mark() const noexcept { return ended_ + 1; }
  bool reached(std::uint64_t mark) const noexcept { return ended_ >= mark; }

  /// `start` begins a copy that sets the flag which it is given; false: it could not. Not if full().
  template <class Start>
  bool begin(const Start& start) {
    std::atomic<bool>& done = done_[begun_ % k_most];
    done.store(false, std::memory_order_relaxed);
    if (!start(done)) return false;
    ++begun_;
    return true;
  }
  /// Calls w.fire when its executed_mark is reached.
  void append(stream_waiter& w) noexcept { waiters_.append(w); }
  /// Whether end() would find anything.
  bool ready() const noexcept { return !empty() && done_[ended_ % k_most].load(std::memory_order_acquire); }
  /// Notes those that have ended, in the order in which they began, and fires who waited for them; true if there are any.
  bool end() noexcept {
    const std::uint64_t before = ended_;
    while (ready()) ++ended_;
    if (ended_ == before) return false;
    waiters_.fire_ready(*this, k_no_replies);
    return true;
  }

private:
  static constexpr std::uint64_t k_no_replies = 0;

  std::array<std::atomic<bool>, k_most> done_{};  // partner: the network, on whichever thread moves it
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
  stream_waiters waiters_;
};

}  // namespace shoal::remote
