// SPDX-License-Identifier: Apache-2.0
// What a worker begins: tasks that others give it, and what is known of the task that runs on a stack.
// Who may call: the worker that runs the task; what reports read is said there. Never switches tasks.
// Shown by tests/unit/sched/worker_test.cpp, stack_overflow_test.cpp.
#pragma once

#include <cstdint>
#include <utility>

#include "lockfree/inbox.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {
struct graph_node;
}  // namespace shoal::detail

namespace shoal::sched {

/// A task given to one worker must not wait: it may run on a waiting task's stack. Given to pool::submit(), it may.
struct errand : lockfree::inbox_node<>, detail::task {};

/// A task for one particular worker, never stolen. The worker's loop starts it, so it may wait. When the pool stops,
/// the worker runs the placed tasks that have not started; such a task must do nothing but free itself.
struct placed_task : lockfree::inbox_node<>, detail::task {};

/// The task that worker::loop() has started last. A local object of loop(); the notes of the stack point to it. Error
/// messages take the code address from `code`, else `node`, else the future that the stack will fill.
struct started {
  const void* code = nullptr;
  const detail::graph_node* node = nullptr;
  const void* group = nullptr;
  std::uint64_t number = 0;  // no other task on this stack has it
  void* local = nullptr;     // what a layer above keeps for the running task; who sets it resets it
  void* caller = nullptr;    // likewise: for which thread outside it runs
};

/// While this object exists, error messages name `code` and `node`, not the task that worker::loop() has started.
class known_as {
public:
  known_as(started& at, const void* code, const detail::graph_node* node) noexcept
      : at_(at), code_(std::exchange(at.code, code)), node_(std::exchange(at.node, node)) {}
  known_as(const known_as&) = delete;
  known_as& operator=(const known_as&) = delete;
  ~known_as() {
    at_.code = code_;
    at_.node = node_;
  }
  void change(const void* code) noexcept { at_.code = code; }
  void change(const detail::graph_node* node) noexcept { at_.node = node; }

private:
  started& at_;
  const void* const code_;
  const detail::graph_node* const node_;
};

}  // namespace shoal::sched
