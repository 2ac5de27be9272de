// SPDX-License-Identifier: Apache-2.0
#include "sched/lanes.hpp"

#include "shoal/detail/assert.hpp"

namespace shoal::sched {

lanes::lanes(unsigned workers, std::atomic<unsigned>& urgent) : high_(urgent) {
  for (unsigned i = 0; i < workers; ++i) workers_.push_back(std::make_unique<worker_lanes>());
}

lockfree::deque<detail::task>& lanes::lane(worker_lanes& of, priority p) noexcept {
  SHOAL_ASSERT(p != priority::normal, "tasks of normal priority lie in their worker's own deque");
  return p == priority::high ? of.high : p == priority::low ? of.low : of.background;
}

const std::atomic<unsigned>& lanes::count(priority p) const noexcept {
  return p == priority::high ? high_ : p == priority::low ? low_ : background_;
}

void lanes::put(unsigned worker, priority p, detail::task& t) {
  auto& counted = const_cast<std::atomic<unsigned>&>(count(p));
  counted.fetch_add(1, std::memory_order_relaxed);
  try {
    lane(*workers_[worker], p).push(&t);
  } catch (...) {
    counted.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

detail::task* lanes::take(unsigned worker, priority p) noexcept {
  auto& counted = const_cast<std::atomic<unsigned>&>(count(p));
  const auto all = static_cast<unsigned>(workers_.size());
  for (unsigned i = 0; i < all && counted.load(std::memory_order_relaxed) != 0;) {
    const unsigned victim = worker + i < all ? worker + i : worker + i - all;
    const auto result = lane(*workers_[victim], p).steal();
    if (result.outcome == lockfree::steal_outcome::won) {
      counted.fetch_sub(1, std::memory_order_relaxed);
      return result.item;
    }
    if (result.outcome == lockfree::steal_outcome::empty) ++i;  // after a lost race there may be more
  }
  return nullptr;
}

}  // namespace shoal::sched
