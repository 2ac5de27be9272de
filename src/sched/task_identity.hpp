// SPDX-License-Identifier: Apache-2.0
// What a stack's task is for its user: the code of its body, and its name, if it has one. For messages.
// Who may call: the thread of the stack's worker, also in a fault handler. Does not switch tasks.
// Tests: tests/unit/sched/stack_overflow_test.cpp, wait_survey_test.cpp.
#pragma once

#include "fiber/fiber.hpp"
#include "sched/filling.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/future_state.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::sched {

struct task_identity {
  const void* code = nullptr;  // nullptr: the main task
  const char* name = nullptr;
};

/// The task that the stack's loop has begun last, or more precisely a future, a loop, or a task of a graph or flow.
inline task_identity identify(const fiber::fiber& f) {
  const started& begun = *static_cast<const started*>(f.notes->running);
  const auto* const fills = static_cast<const filling*>(f.notes->fills);
  const detail::future_state* const future = fills != nullptr ? fills->state : nullptr;
  task_identity found;
  if (begun.node != nullptr) {
    found = {reinterpret_cast<const void*>(begun.node->call), begun.node->name};
  } else if (future != nullptr) {
    found = {reinterpret_cast<const void*>(future->of->step), future->name};
  }
  if (begun.code != nullptr) found.code = begun.code;
  return found;
}

}  // namespace shoal::sched
