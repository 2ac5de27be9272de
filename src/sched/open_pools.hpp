// SPDX-License-Identifier: Apache-2.0
// The pools of this process by number, for threads that are to give a pool work but cannot know whether it still exists.
// Who may call: any thread. Takes a lock of the process for some 50 ns; never switches tasks.
// Guarantees: no two pools get the same number. What submit_detached() has accepted ends before its pool does.
// Shown by tests/unit/sched/future_outside_test.cpp, tests/stress/promise_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::sched {

class pool;
struct errand;

/// Returns the number of `p`, at least 1.
std::uint64_t open_pool(pool& p);
/// Before the pool waits for threads that wake its tasks.
void close_pool(std::uint64_t number) noexcept;
/// Submits `e` as work that no task waits for: its end calls end_detached(). False if the pool has ended or is about to.
bool submit_detached(std::uint64_t number, errand& e) noexcept;

}  // namespace shoal::sched
