// SPDX-License-Identifier: Apache-2.0
// A task sleeps; its worker runs others meanwhile:
//   shoal::sleep_for(std::chrono::milliseconds(10));   shoal::sleep_until(start + std::chrono::seconds(1));
// Who may call: tasks. Both switch tasks; a time that has passed is a yield(). On a simulated machine the time is virtual.
// Guarantees: never shorter than asked for; longer by what a running task takes until it ends, waits or calls the runtime,
// and by some 60 us if the worker sleeps, too. A million tasks may sleep: a stack each, and O(log n) per sleep.
// Limits: the task stays on its worker, also if it is movable. A later change of Clock does not change a sleep_until().
// Errors: std::bad_alloc if there is no memory for one more timer.
// Tests: tests/unit/sched/sleep_test.cpp, tests/stress/timed_wait_test.cpp.
#pragma once

#include "shoal/detail/time_limit.hpp"

namespace shoal {

namespace detail {
void sleep(time_limit until);
}  // namespace detail

inline void sleep_for(detail::limit_after limit) { detail::sleep(limit); }
inline void sleep_until(detail::limit_at limit) { detail::sleep(limit); }

}  // namespace shoal
