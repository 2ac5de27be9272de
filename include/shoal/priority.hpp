// SPDX-License-Identifier: Apache-2.0
// Priorities of tasks that have not begun. Workers choose between tasks, between chunks of loops and between children
// that they run inline; they never interrupt a running task.
//   high        before all other tasks that have not begun, on the first worker that looks; the worker that spawned it
//               looks after the running task, the others within 64 tasks that take 2 us together, or fewer longer ones
//   normal      the default; costs nothing
//   low         when no worker within reach has normal tasks
//   background  when a worker would otherwise park
// Guarantees: high, low and background tasks start first in, first out for each spawning worker. Normal tasks start
// last in, first out; thieves take the oldest. No task starves: a task of low priority begins after a bounded number of
// turns although there are normal ones, a woken task continues although there are high ones (docs/promises.md).
// A wait for a group does not change the priority of its tasks.
// Tests: tests/unit/sched/priority_test.cpp, fairness_test.cpp.
#pragma once

#include <cstdint>

namespace shoal {

enum class priority : std::uint8_t { high, normal, low, background };

}  // namespace shoal
