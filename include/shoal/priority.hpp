// SPDX-License-Identifier: Apache-2.0
// Which of the tasks that have not begun comes first. Workers look between tasks, and between chunks of loops; what has
// begun is never interrupted.
//   high        before anything else that has not begun, on whichever worker looks first
//   normal      what is not said otherwise; costs nothing
//   low         when no worker within reach has normal ones
//   background  when a worker would otherwise go to sleep
// Guarantees: of one priority, first in first out per worker that spawned, but for normal, which is last in first out
// with thieves taking the oldest. Strict: low tasks wait for as long as there are normal ones. Waiting for a group does
// not raise its tasks. Shown by tests/unit/sched/priority_test.cpp.
#pragma once

#include <cstdint>

namespace shoal {

enum class priority : std::uint8_t { high, normal, low, background };

}  // namespace shoal
