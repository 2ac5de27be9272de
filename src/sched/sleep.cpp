// SPDX-License-Identifier: Apache-2.0
#include "shoal/sleep.hpp"

#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

std::uint64_t clock_ns() noexcept { return static_cast<sched::worker&>(worker_here()).owner().executor().now_ns(); }

void sleep(time_limit until) {
  if (until.is_past()) return yield();
  struct alarm final : sched::timer {
    explicit alarm(suspended* t) noexcept
        : timer([](timer& self) noexcept { wake(static_cast<alarm&>(self).task); }), task(t) {}
    suspended* task;
  } at_end(this_task());
  sched::this_worker()->timers().add(at_end, until.due_ns());
  leave(wait_kind::time);
}

}  // namespace shoal::detail
