// SPDX-License-Identifier: Apache-2.0
#include "sched/stillness.hpp"

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

bool all_asleep(pool& p, std::uint64_t& version) noexcept {
  version = 0;
  for (unsigned i = 0; i < p.size(); ++i) {
    const std::uint64_t rests = p.at(i).rests();
    if (rests % 2 == 0) return false;
    version += rests;
  }
  return true;
}

}  // namespace

// For a thread other than the worker's: what is not atomic is valid if the worker has slept all the time.
worker::resting worker::rest() noexcept {
  const fiber::tsan_ignore_scope ignore;
  resting r;
  r.rung = !bell_->may_sleep();
  r.starved = starved_.load(std::memory_order_relaxed);
  r.holds_back = holds_back_.load(std::memory_order_relaxed);
  r.outside = outside_waits_.load(std::memory_order_relaxed);
  r.given = !woken_.empty() || !errands_.empty() || !placed_.empty() || !tasks.seems_empty() || !arrived_.seems_empty();
  r.in_flight = owner_.hooks().in_flight(*this) || !timers_.empty();
  return r;
}

stillness look_at(pool& p) noexcept {
  stillness s;
  std::uint64_t before = 0;
  if (p.stopping() || !all_asleep(p, before)) return s;
  bool active = p.woken_from_outside();
  bool given = p.anything_apart();
  for (unsigned i = 0; i < p.size(); ++i) {
    const worker::resting r = p.at(i).rest();
    active |= r.rung || r.in_flight;
    given |= r.given;
    s.starved |= r.starved;
    s.holds_back |= r.holds_back;
    s.outside += r.outside;
  }
  lockfree::std_atomics::fence(std::memory_order_acquire);  // what was read is not read later. Partner: worker::sleep()
  // A worker without a stack cannot begin what it has, and others may not reach it.
  if (active || (given && !s.starved) || !all_asleep(p, s.version) || s.version != before) return s;
  s.still = true;
  return s;
}

}  // namespace shoal::sched
