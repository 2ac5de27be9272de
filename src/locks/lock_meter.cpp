// SPDX-License-Identifier: Apache-2.0
#include "shoal/lock_meter.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "locks/time_histogram.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/atomics.hpp"

namespace shoal {
namespace {

constexpr unsigned k_nobody = std::numeric_limits<unsigned>::max();

double factor(double happened, double fair) {
  return fair > 0 ? happened / fair : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

struct lock_meter::state {
  struct alignas(lockfree::k_cache_line_bytes) slot {
    std::atomic<bool> waits{false};          // partners: winners, which count waiters; report(), which reads asked_at
    std::atomic<std::uint64_t> asked_ns{0};  // written by its thread; read by report()
    std::uint64_t asked_at = 0;              // number of acquisitions at that time
    std::uint64_t acquisitions = 0;
    std::uint64_t most_passed = 0;
    locks::time_histogram wait;
  };

  explicit state(std::vector<unsigned> package_of_thread)
      : package(std::move(package_of_thread)), slots(std::make_unique<slot[]>(package.size())) {}

  const std::vector<unsigned> package;
  std::unique_ptr<slot[]> slots;
  std::atomic<std::uint64_t> acquisitions{0};  // written by the owner; read by threads in asks()

  // Guarded by the measured lock.
  unsigned last = k_nobody;
  bool left_waiters = false;
  std::uint64_t gave_ns = 0;
  std::uint64_t contended = 0;
  std::uint64_t same_core = 0;
  std::uint64_t same_package = 0;
  double fair_core = 0;
  double fair_package = 0;
  locks::time_histogram handover;
};

lock_meter::lock_meter(std::vector<unsigned> package_of_thread)
    : state_(std::make_unique<state>(std::move(package_of_thread))) {}
lock_meter::~lock_meter() = default;

unsigned lock_meter::threads() const noexcept { return static_cast<unsigned>(state_->package.size()); }

void lock_meter::asks(unsigned thread) noexcept { asks(thread, base::now_ns()); }
void lock_meter::got(unsigned thread) noexcept { got(thread, base::now_ns()); }
void lock_meter::gives(unsigned thread) noexcept { gives(thread, base::now_ns()); }
lock_report lock_meter::report() const { return report(base::now_ns()); }

void lock_meter::asks(unsigned thread, std::uint64_t at_ns) noexcept {
  SHOAL_ASSERT(thread < threads(), "the thread's number is too large for this lock_meter");
  state::slot& mine = state_->slots[thread];
  mine.asked_ns.store(at_ns, std::memory_order_relaxed);
  mine.asked_at = state_->acquisitions.load(std::memory_order_relaxed);
  mine.waits.store(true, std::memory_order_release);
}

void lock_meter::got(unsigned thread, std::uint64_t at_ns) noexcept {
  state& s = *state_;
  state::slot& mine = s.slots[thread];
  unsigned waiting = 0;
  unsigned with_last = 0;
  const unsigned last_package = s.last == k_nobody ? k_nobody : s.package[s.last];
  for (unsigned t = 0; t < threads(); ++t) {
    if (!s.slots[t].waits.load(std::memory_order_relaxed)) continue;
    ++waiting;
    with_last += s.package[t] == last_package ? 1 : 0;
  }
  if (waiting > 1 && s.last != k_nobody) {
    ++s.contended;
    s.same_core += thread == s.last ? 1 : 0;
    s.same_package += s.package[thread] == last_package ? 1 : 0;
    s.fair_core += 1.0 / waiting;
    s.fair_package += static_cast<double>(with_last) / waiting;
  }
  // The clocks of two processors may differ slightly.
  if (s.left_waiters) s.handover.add(at_ns > s.gave_ns ? at_ns - s.gave_ns : 0);
  const std::uint64_t asked_ns = mine.asked_ns.load(std::memory_order_relaxed);
  mine.wait.add(at_ns > asked_ns ? at_ns - asked_ns : 0);
  const std::uint64_t before = s.acquisitions.load(std::memory_order_relaxed);
  mine.most_passed = std::max(mine.most_passed, before - mine.asked_at);
  ++mine.acquisitions;
  s.acquisitions.store(before + 1, std::memory_order_relaxed);
  s.last = thread;
  mine.waits.store(false, std::memory_order_relaxed);
}

void lock_meter::gives(unsigned thread, std::uint64_t at_ns) noexcept {
  state& s = *state_;
  SHOAL_CHECK(s.last == thread, "gives() was called by a thread that does not own the lock");
  static_cast<void>(thread);
  s.left_waiters = false;
  for (unsigned t = 0; t < threads() && !s.left_waiters; ++t)
    s.left_waiters = s.slots[t].waits.load(std::memory_order_relaxed);
  s.gave_ns = at_ns;
}

lock_report lock_meter::report(std::uint64_t at_ns) const {
  const state& s = *state_;
  lock_report r;
  locks::time_histogram wait;
  std::uint64_t longest = 0;
  for (unsigned t = 0; t < threads(); ++t) {
    const state::slot& one = s.slots[t];
    wait.add(one.wait);
    r.by_thread.push_back(one.acquisitions);
    r.acquisitions += one.acquisitions;
    r.most_passed = std::max(r.most_passed, one.most_passed);
    if (one.waits.load(std::memory_order_acquire)) {  // partner: asks()
      const std::uint64_t asked_ns = one.asked_ns.load(std::memory_order_relaxed);
      longest = std::max(longest, at_ns > asked_ns ? at_ns - asked_ns : 0);
      r.most_passed = std::max(r.most_passed, s.acquisitions.load(std::memory_order_relaxed) - one.asked_at);
    }
  }
  r.contended = s.contended;
  r.bias_core = factor(static_cast<double>(s.same_core), s.fair_core);
  r.bias_package = factor(static_cast<double>(s.same_package), s.fair_package);
  r.wait_p50_ns = wait.percentile(0.5);
  r.wait_p90_ns = wait.percentile(0.9);
  r.wait_p99_ns = wait.percentile(0.99);
  r.wait_max_ns = static_cast<double>(wait.max());
  r.longest_starvation_ns = static_cast<double>(std::max(longest, wait.max()));
  r.handover_p50_ns = s.handover.percentile(0.5);
  r.handover_p99_ns = s.handover.percentile(0.99);
  return r;
}

}  // namespace shoal
