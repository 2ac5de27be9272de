// SPDX-License-Identifier: Apache-2.0
// Those who wait until what was written to a node has been executed and replied to, in the order of their marks. Tasks
// have a queue of their own: thousands wait, each on a stack that is in no cache, so waking them reads no stack.
// Who may call: the worker that wrote. Nothing here switches tasks.
// Test: tests/unit/remote/worker_port_test.cpp.
#pragma once

#include <cstdint>

#include "base/growing_ring.hpp"
#include "fiber/fiber.hpp"

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

/// Tasks of the worker that wait for what stream_waiters wait for.
class settling_tasks {
public:
  struct entry {
    std::uint64_t executed_mark;
    std::uint64_t reply_mark;
    fiber::fiber* task;
  };
  /// Room for one more. May throw std::bad_alloc; then nothing has changed.
  void reserve() { tasks_.reserve(); }
  bool empty() const noexcept { return tasks_.empty(); }
  void append(const entry& e) noexcept { tasks_.push(e); }
  template <class Outbox>
  bool ready(Outbox& out, std::uint64_t replies) const noexcept {
    return !tasks_.empty() && out.reached(tasks_.front().executed_mark) && replies >= tasks_.front().reply_mark;
  }
  /// Passes all whose marks are reached to `wake`; true if there were any.
  template <class Outbox, class Wake>
  bool wake_ready(Outbox& out, std::uint64_t replies, const Wake& wake) {
    bool any = false;
    for (; ready(out, replies); any = true) wake(*tasks_.pop().task);
    return any;
  }

private:
  base::growing_ring<entry> tasks_;
};

}  // namespace shoal::remote
