// SPDX-License-Identifier: Apache-2.0
// Says what happened when a task's stack overflows into its guard, before the process dies of it.
// Who may call: explain_stack_overflows() the thread that makes a job; a hook of the whole process, as signals are.
// end_for_used_up_stack() the worker's thread. Neither switches tasks.
// Guarantees: the line names the task that the stack's loop has begun or what is known of it more closely (a future, a
// loop, a task of a graph or flow; its name, and its code as file and offset: the task that overflows is that one, or
// a child which it runs in place), the instruction that failed, the worker, the stack and the setting; other faults are
// passed on as they were, those at null pointers of other threads with a line. Libraries loaded after the first job are
// named by address. Shown by tests/cluster/faults_test.cpp, tests/unit/sched/stack_overflow_test.cpp, pool_test.cpp.
#pragma once

namespace shoal::sched {

class worker;

void explain_stack_overflows();

/// For stacks without a guard: says the same of the worker's current stack and ends the process.
[[noreturn]] void end_for_used_up_stack(worker& w) noexcept;

}  // namespace shoal::sched
