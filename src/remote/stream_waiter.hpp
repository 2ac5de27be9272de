// SPDX-License-Identifier: Apache-2.0
// Those who wait until what was written to a node has been executed and replied to, in the order of their marks.
// Who may call: the worker that wrote. Nothing here switches tasks.
// Test: tests/unit/remote/worker_port_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::remote {

struct stream_waiter {
  std::uint64_t executed_mark = 0;
  std::uint64_t reply_mark = 0;
  stream_waiter* next = nullptr;
  void (*fire)(stream_waiter&) noexcept = nullptr;
};

class stream_waiters {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  void append(stream_waiter& w) noexcept {
    w.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
  }
  /// Whether the first one's marks are reached: by the buffers that `out` knows to be executed, and the replies taken.
  template <class Outbox>
  bool ready(Outbox& out, std::uint64_t replies) const noexcept {
    return first_ != nullptr && out.reached(first_->executed_mark) && replies >= first_->reply_mark;
  }
  /// Fires all whose marks are reached; true if there were any. They may be gone then.
  template <class Outbox>
  bool fire_ready(Outbox& out, const std::uint64_t& replies) noexcept {
    bool any = false;
    while (ready(out, replies)) {
      stream_waiter* const w = first_;
      first_ = w->next;
      w->fire(*w);
      any = true;
    }
    return any;
  }

private:
  stream_waiter* first_ = nullptr;
  stream_waiter* last_ = nullptr;
};

}  // namespace shoal::remote
