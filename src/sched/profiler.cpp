// SPDX-License-Identifier: Apache-2.0
#include "sched/profiler.hpp"

#include <algorithm>
#include <new>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::sched {
namespace {

// What a timed operation shows too much: the time of reading the clock itself.
std::int64_t measure_clock_cost() {
  std::array<std::uint64_t, 101> costs{};
  for (auto& cost : costs) {
    const std::uint64_t before = base::ticks();
    cost = base::ticks() - before;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return static_cast<std::int64_t>(costs[costs.size() / 2]);
}

template <class To, class From>
void copy(To& to, const From& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i].load(std::memory_order_relaxed);
}

}  // namespace

profiler::~profiler() { SHOAL_ASSERT(users_ == 0, "a profile of a pool ends before the pool does"); }

void profiler::start() {
  const fiber::tsan_ignore_scope ignore;
  const std::lock_guard hold(lock_);
  if (recorders_.empty()) {
    const std::int64_t cost = measure_clock_cost();
    decltype(recorders_) made;
    for (unsigned i = 0; i < pool_.size(); ++i)
      made.push_back(std::make_unique<profile_recorder>(pool_.at(i), epoch_, started_, cost));
    recorders_.swap(made);
  }
  if (users_++ > 0) return;
  started_.store(base::ticks(), std::memory_order_relaxed);
  epoch_.store(epoch_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // partner: recorder::join()
  for (unsigned i = 0; i < pool_.size(); ++i) {
    recorders_[i]->trace_into(events_ == nullptr ? nullptr : &events_->ring(i));
    pool_.at(i).set_profile(recorders_[i].get());
  }
  if (worker* const w = this_worker(); w != nullptr && &w->owner() == &pool_) w->profile()->join(profile_state::busy);
}

std::unique_ptr<stack_sampler> profiler::sample(unsigned worker) {
  if (events_ == nullptr || !events_->takes_samples()) return nullptr;
  try {
    return std::make_unique<stack_sampler>(*events_, worker);
  } catch (const error& e) {
    base::warn("worker {}: no samples of its stacks: {}", worker, e.what());
    return nullptr;
  }
}

std::uint32_t profiler::number_of(std::string_view name) noexcept {
  const fiber::tsan_ignore_scope ignore;
  try {
    return events_ == nullptr ? 0 : events_->number_of(name);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void profiler::stop() noexcept {
  const std::lock_guard hold(lock_);
  if (--users_ > 0) return;
  for (unsigned i = 0; i < pool_.size(); ++i) pool_.at(i).set_profile(nullptr);
}

// A worker that has not noticed yet still does what it did when profiling was switched on: it sleeps, or runs a task.
profiler::seen profiler::look_at(unsigned worker) const noexcept {
  seen s{};
  while (!recorders_[worker]->try_read(s.clock)) pool_.executor().yield();
  const bool joined = s.clock.epoch == epoch_.load(std::memory_order_relaxed);
  s.state = joined                      ? static_cast<profile_state>(s.clock.state)
            : pool_.at(worker).parked() ? profile_state::park
                                        : profile_state::busy;
  s.since = joined ? s.clock.since : started_.load(std::memory_order_relaxed);
  return s;
}

unsigned profiler::running() {
  unsigned count = 0;
  for (unsigned i = 0; i < pool_.size(); ++i) count += look_at(i).state == profile_state::busy ? 1 : 0;
  return count;
}

pool_reading profiler::read() {
  const fiber::tsan_ignore_scope ignore;
  if (worker* const w = this_worker(); w != nullptr && &w->owner() == &pool_) w->profile()->publish_spawned();
  pool_reading all;
  all.ticks = base::ticks();
  for (unsigned i = 0; i < pool_.size(); ++i) {
    const seen s = look_at(i);
    const profile_recorder& r = *recorders_[i];
    recorder_reading& one = all.workers.emplace_back();
    for (std::size_t k = 0; k < k_profile_states; ++k) one.ticks[k] = static_cast<std::int64_t>(s.clock.elapsed[k]);
    // Negative for a worker that changed its state after all.ticks: its state before has the same amount too much.
    one.ticks[static_cast<std::size_t>(s.state)] += static_cast<std::int64_t>(all.ticks - s.since);
    copy(one.count, r.count);
    copy(one.timed, r.timed);
    copy(one.sum, r.sum);
    copy(one.once, r.once);
    for (std::size_t d = 0; d < k_worker_distances; ++d) {
      std::array<std::uint64_t, 3> by_result{};
      copy(by_result, r.attempts[d]);
      one.attempts[d] = {by_result[0], by_result[1], by_result[2]};
    }
    one.begun = r.begun.load(std::memory_order_relaxed);
    one.unspawned = r.unspawned.load(std::memory_order_relaxed);
    one.left = r.left.load(std::memory_order_relaxed);
    one.served = r.served.load(std::memory_order_relaxed);
    one.rounds = r.rounds.load(std::memory_order_relaxed);
    one.parks = r.parks.load(std::memory_order_relaxed);
    one.idle_polls = r.idle_polls.load(std::memory_order_relaxed);
    one.idle_spawned = r.idle_spawned.load(std::memory_order_relaxed);
  }
  return all;
}

}  // namespace shoal::sched
