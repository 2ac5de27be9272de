// SPDX-License-Identifier: Apache-2.0
// Says what happened when a task's stack overflows into its guard, before the process dies of it.
// Who may call: the thread that makes a job. A hook of the whole process, as signals are.
// Guarantees: the line names the worker and the setting; other faults are passed on as they were.
// Shown by tests/cluster/faults_test.cpp.
#pragma once

namespace shoal::sched {

void explain_stack_overflows();

}  // namespace shoal::sched
