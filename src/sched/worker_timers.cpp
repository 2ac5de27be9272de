// SPDX-License-Identifier: Apache-2.0
// Timers of a worker's tasks. While there are none, they cost a comparison in each turn of the loop.
#include <algorithm>
#include <limits>

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {

void worker::start_timer(timer& t, std::uint64_t due_ns) {
  const fiber::tsan_ignore_scope ignore;
  timers_.add(t, due_ns);
  if (timers_.earliest_ns() == due_ns) plan_look_at_timers(owner_.executor().now_ns());
}

void worker::end_timer(timer& t) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (t.pending()) timers_.remove(t);
  if (timers_.empty()) timers_look_ = timer_queue::k_never;
}

// Until then the rough clock may go up to three times as slowly as it is taken to, so a third of the time is safe; each
// look leaves at most two thirds.
void worker::plan_look_at_timers(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t k_furthest_ns = std::uint64_t{1} << 40;
  if (timers_.empty()) {
    timers_look_ = timer_queue::k_never;
    return;
  }
  const std::uint64_t due_ns = timers_.earliest_ns();
  const std::uint64_t left_ns = std::min(due_ns - std::min(due_ns, now_ns), k_furthest_ns);
  timers_look_ = owner_.rough_now() + left_ns / 3 * base::rough_time::k_per_ns;
}

// True: a timer has fired. Many that are due at the same time leave room for others between them.
bool worker::fire_timers() noexcept {
  const std::uint64_t now_ns = owner_.executor().now_ns();
  unsigned fired = 0;
  while (fired < k_timers_at_once) {
    timer* t = nullptr;
    {
      const fiber::tsan_ignore_scope ignore;
      t = timers_.take_due(now_ns);
    }
    if (t == nullptr) break;
    t->fire(*t);
    ++fired;
  }
  const fiber::tsan_ignore_scope ignore;
  plan_look_at_timers(now_ns);
  return fired != 0;
}

// How long the worker may sleep; negative: as long as it likes.
std::int64_t worker::until_timer_ns() const noexcept {
  if (timers_.empty()) return -1;
  constexpr auto k_longest_ns = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t due_ns = timers_.earliest_ns();
  return static_cast<std::int64_t>(std::min(due_ns - std::min(due_ns, owner_.executor().now_ns()), k_longest_ns));
}

}  // namespace shoal::sched
