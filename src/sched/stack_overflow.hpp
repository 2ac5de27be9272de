// SPDX-License-Identifier: Apache-2.0
// Reports a stack overflow of a task, which faults in the guard below the stack, before the process dies.
// Who may call: explain_stack_overflows() the thread that makes a job; it installs signal handlers of the process.
// end_for_used_up_stack() the worker's thread. Neither switches tasks.
// Guarantees: the line names the task that the stack's loop has started, or more precisely a future, a loop, a task of
// a graph or flow (its name, and its code as file and offset; the overflow is in that task or in a child that it runs
// inline); the failed instruction, the worker, the stack and the setting. Other faults go to the previous handlers,
// those at null pointers of other threads with a line. Libraries loaded after the first job are named by address.
// Tests: tests/cluster/faults_test.cpp, tests/unit/sched/stack_overflow_test.cpp, pool_test.cpp.
#pragma once

#include <string_view>

namespace shoal::machine {
class signal_line;
}

namespace shoal::sched {

class worker;
struct started;

/// What a layer above says of its tasks in these reports. The functions run in signal handlers.
struct fault_words {
  bool (*name)(machine::signal_line& line, const started& task) noexcept;  // "rank 3"; false: the task is not its own
  void (*place)(machine::signal_line& line, const void* instruction) noexcept;  // "in work() (program+0x12)"
  std::string_view stack_advice;  // what to do about a stack that is too small
};
/// For the whole process; before the first job.
void set_fault_words(const fault_words* words) noexcept;

void explain_stack_overflows();

/// For stacks without a guard: prints the same report for the worker's current stack and ends the process.
[[noreturn]] void end_for_used_up_stack(worker& w) noexcept;

}  // namespace shoal::sched
