// SPDX-License-Identifier: Apache-2.0
// Priorities of tasks that have not begun. Workers choose between tasks and between chunks of loops; they never
// interrupt a running task.
//   high        before all other tasks that have not begun, on the first worker that looks
//   normal      the default; costs nothing
//   low         when no worker within reach has normal tasks
//   background  when a worker would otherwise park
// Guarantees: high, low and background tasks start first in, first out for each spawning worker. Normal tasks start
// last in, first out; thieves take the oldest. Priorities are strict: low tasks wait as long as there are normal ones.
// A wait for a group does not change the priority of its tasks. Tests: tests/unit/sched/priority_test.cpp.
#pragma once

#include <cstdint>

namespace shoal {

enum class priority : std::uint8_t { high, normal, low, background };

}  // namespace shoal
