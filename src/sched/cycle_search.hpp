// SPDX-License-Identifier: Apache-2.0
// Finds cycles of tasks that wait for each other's futures. A waiting stack has an edge to the stack that will fill the
// result (fiber::stack_notes); the search follows these edges. An edge is written before it is followed, so the stack
// that adds the last edge of a cycle sees the whole cycle.
// The work per wait is bounded. There is no search from a stack that no task waits for, since no cycle contains it.
// Otherwise the wait follows at most k_steps_at_once edges; an unfinished search continues, in parts of k_steps_later
// edges, when the worker finds no task to run, and now and then between tasks.
// Who may call: the worker's own thread; go_on() from its loop. Does not switch tasks.
// Tests: tests/unit/sched/future_cycle_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "fiber/fiber.hpp"

namespace shoal::detail {
struct future_state;
}  // namespace shoal::detail

namespace shoal::sched {

/// Follows edges from a stack, a few at a time. Does not end in a cycle that does not contain the first stack.
class edge_walk {
public:
  enum class result : std::uint8_t { no_cycle, cycle, unfinished };

  explicit edge_walk(const fiber::stack_notes& first) noexcept : first_(&first), at_(&first) {}
  result advance(unsigned most_steps, std::uint64_t& counted) noexcept;

private:
  const fiber::stack_notes* first_;
  const fiber::stack_notes* at_;
  const fiber::stack_notes* milestone_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t until_ = 1;  // the next milestone, in steps
};

/// A wait for a future, on the stack that waits.
struct future_wait {
  future_wait(fiber::stack_notes& stack, detail::future_state& awaited, std::uintptr_t word) noexcept
      : me(stack), state(awaited), before(word), walk(stack) {}

  fiber::stack_notes& me;
  detail::future_state& state;
  std::uintptr_t before;  // the value of the future's word before the wait
  edge_walk walk;
  bool queued = false;
  future_wait* next = nullptr;
  future_wait* previous = nullptr;
  std::string cycle;  // the error message, once the wait has been cancelled because of a cycle
};

/// The searches of one worker's waits.
class cycle_searches {
public:
  static constexpr unsigned k_steps_at_once = 64;
  static constexpr unsigned k_steps_later = 256;

  /// Searches from a wait whose edge has been written; true if the wait closes a cycle and has been cancelled.
  bool begin(future_wait& w);
  /// The wait is over.
  void end(future_wait& w) noexcept;
  /// Whether go_on() has something to do.
  bool any() const noexcept { return first_ != nullptr; }
  /// Goes on with one search; wakes its task if that has to give up.
  void go_on() noexcept;

  // How many edges were followed.
  std::uint64_t steps_at_once() const noexcept { return steps_at_once_; }
  std::uint64_t steps_later() const noexcept { return steps_later_; }

private:
  bool look(future_wait& w, unsigned most_steps, std::uint64_t& counted);
  void enter(future_wait& w) noexcept;
  void remove(future_wait& w) noexcept;

  future_wait* first_ = nullptr;  // newest first
  std::uint64_t steps_at_once_ = 0;
  std::uint64_t steps_later_ = 0;
};

}  // namespace shoal::sched
