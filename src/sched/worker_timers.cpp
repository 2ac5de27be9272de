// SPDX-License-Identifier: Apache-2.0
#include "sched/worker_timers.hpp"

#include <algorithm>
#include <limits>

#include "base/rough_time.hpp"
#include "fiber/sanitizer.hpp"

namespace shoal::sched {

void worker_timers::add(timer& t, std::uint64_t due_ns) {
  const fiber::tsan_ignore_scope ignore;
  queue_.add(t, due_ns);
  if (queue_.earliest_ns() == due_ns) plan_look(executor_.now_ns());
}

void worker_timers::end(timer& t) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (t.pending()) queue_.remove(t);
  if (queue_.empty()) look_ = timer_queue::k_never;
}

// The rough clock may go up to three times as fast as it is taken to, or as slowly. A third of the time is safe, and each
// look leaves at most eight ninths of it.
void worker_timers::plan_look(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t k_furthest_ns = std::uint64_t{1} << 40;
  if (queue_.empty()) {
    look_ = timer_queue::k_never;
    return;
  }
  const std::uint64_t due_ns = queue_.earliest_ns();
  const std::uint64_t left_ns = std::min(due_ns - std::min(due_ns, now_ns), k_furthest_ns);
  look_ = clock_.now() + left_ns / 3 * base::rough_time::k_per_ns;
}

bool worker_timers::fire() noexcept {
  const std::uint64_t now_ns = executor_.now_ns();
  unsigned fired = 0;
  for (; fired < k_most_at_once; ++fired) {
    timer* t = nullptr;
    {
      const fiber::tsan_ignore_scope ignore;
      t = queue_.take_due(now_ns);
    }
    if (t == nullptr) break;
    t->fire(*t);
  }
  const fiber::tsan_ignore_scope ignore;
  plan_look(now_ns);
  return fired != 0;
}

std::int64_t worker_timers::sleep_ns() const noexcept {
  if (queue_.empty()) return -1;
  constexpr auto k_longest_ns = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t due_ns = queue_.earliest_ns();
  return static_cast<std::int64_t>(std::min(due_ns - std::min(due_ns, executor_.now_ns()), k_longest_ns));
}

}  // namespace shoal::sched
