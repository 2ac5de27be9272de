// SPDX-License-Identifier: Apache-2.0
// The timers of a worker's tasks, and when its loop is to look at them. In between it compares only its own rough time,
// which it has anyway.
// Who may call: the worker's own thread. Never switches tasks. add() may throw std::bad_alloc; then nothing has changed.
// Guarantees: no timer fires early. Tests: tests/unit/sched/timer_queue_test.cpp, sleep_test.cpp.
#pragma once

#include <cstdint>

#include "machine/executor.hpp"
#include "machine/rough_clock.hpp"
#include "sched/timer_queue.hpp"

namespace shoal::sched {

class worker_timers {
public:
  explicit worker_timers(machine::executor& by) noexcept : executor_(by), clock_(by) {}

  /// Has `t` fire at `due_ns` of the executor's clock, or later.
  void add(timer& t, std::uint64_t due_ns);
  /// Ends `t` if it is pending.
  void end(timer& t) noexcept;

  bool empty() const noexcept { return queue_.empty(); }
  /// Whether fire() may have something to do. `now`: of the rough clock, not much before now.
  bool due(std::uint64_t now) const noexcept { return look_ <= now; }
  /// Fires those whose time has come, not too many at once. True: there were some.
  bool fire() noexcept;
  /// How long the worker may sleep; negative: as long as it likes.
  std::int64_t sleep_ns() const noexcept;

private:
  void plan_look(std::uint64_t now_ns) noexcept;

  static constexpr unsigned k_most_at_once = 64;  // others may run in between

  machine::executor& executor_;
  const machine::rough_clock clock_;
  timer_queue queue_;
  std::uint64_t look_ = timer_queue::k_never;  // of the rough clock
};

}  // namespace shoal::sched
