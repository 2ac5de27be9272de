// SPDX-License-Identifier: Apache-2.0
// The events of one worker, in memory of a fixed size: the newest ones (overwrite), or the oldest (stop).
// Who may call: add(): its worker only. Others may read while it writes: see trace_file.hpp. Never switches tasks.
// Cost of add(): a look at the clock and four stores. Test: tests/unit/trace/trace_file_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "trace/event.hpp"

namespace shoal::trace {

/// Beside the events, in the memory that is read.
struct ring_state {
  std::atomic<std::uint64_t> added{0};   // events. Partner: readers, which look at it before and after
  std::atomic<std::uint32_t> thread{0};  // the system's number of the worker's thread; 0: not known. Partner: readers
};

class event_ring {
public:
  event_ring() = default;
  /// `events`: a power of two of them.
  event_ring(std::span<event> events, ring_state& state, bool overwrite) noexcept
      : events_(events.data()), mask_(events.size() - 1), state_(&state), overwrites_(overwrite) {}

  void note_thread(std::uint32_t thread) noexcept { state_->thread.store(thread, std::memory_order_relaxed); }

  void add(event_kind kind, std::uint16_t small = 0, std::uint32_t number = 0, std::uint64_t value = 0) noexcept {
    add_at(base::ticks(), kind, small, number, value);
  }
  void add_at(std::uint64_t ticks, event_kind kind, std::uint16_t small = 0, std::uint32_t number = 0,
              std::uint64_t value = 0) noexcept {
    const std::uint64_t n = state_->added.load(std::memory_order_relaxed);
    if (!overwrites_ && n > mask_) [[unlikely]] {
      state_->added.store(n + 1, std::memory_order_relaxed);  // how many there would be
      return;
    }
    events_[n & mask_] = {ticks, kind, small, number, value};
    state_->added.store(n + 1, std::memory_order_release);
  }

private:
  event* events_ = nullptr;
  std::uint64_t mask_ = 0;
  ring_state* state_ = nullptr;
  bool overwrites_ = true;
};

}  // namespace shoal::trace
