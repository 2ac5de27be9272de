// SPDX-License-Identifier: Apache-2.0
// A task sleeps; its worker runs others meanwhile:
//   shoal::sleep_for(std::chrono::milliseconds(10));   shoal::sleep_until(start + std::chrono::seconds(1));
//   if (!shoal::sleep_for(std::chrono::seconds(1), shoal::in_scope)) return;    // a stop was requested (stop_scope.hpp)
// Who may call: tasks. All switch tasks; a time that has passed is a yield(). On a simulated machine the time is virtual.
// Guarantees: never shorter than asked for; longer by what a running task takes until it ends, waits or calls the runtime,
// and by some 60 us if the worker sleeps, too. A million tasks may sleep: a stack each, and O(log n) per sleep.
// Limits: the task stays on its worker, also if it is movable. A later change of Clock does not change a sleep_until().
// Errors: std::bad_alloc if there is no memory for one more timer.
// Tests: tests/unit/sched/sleep_test.cpp, tests/stress/timed_wait_test.cpp.
#pragma once

#include <stop_token>

#include "shoal/detail/scope.hpp"
#include "shoal/detail/time_limit.hpp"

namespace shoal {

namespace detail {
void sleep(time_limit until);
bool sleep(time_limit until, const std::stop_token& stop);
bool sleep_in_scope(time_limit until);
}  // namespace detail

inline void sleep_for(detail::limit_after limit) { detail::sleep(limit); }
inline void sleep_until(detail::limit_at limit) { detail::sleep(limit); }

/// The same until a stop is requested: whether the whole time has passed without a request. False at once if one was made
/// before; outside of scopes, and with a token that nobody can use, they sleep to the end. They cost some 200 ns more, and who
/// requests the stop wakes each of its sleepers.
inline bool sleep_for(detail::limit_after limit, in_scope_t) { return detail::sleep_in_scope(limit); }
inline bool sleep_until(detail::limit_at limit, in_scope_t) { return detail::sleep_in_scope(limit); }
inline bool sleep_for(detail::limit_after limit, const std::stop_token& stop) { return detail::sleep(limit, stop); }
inline bool sleep_until(detail::limit_at limit, const std::stop_token& stop) { return detail::sleep(limit, stop); }

}  // namespace shoal
