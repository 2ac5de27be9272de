// SPDX-License-Identifier: Apache-2.0
// An idle worker: it steals, polls, and parks until another thread wakes it.
#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "base/rough_time.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/futex.hpp"
#include "machine/membarrier.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

// Looks of a wait in place, before it switches.
constexpr unsigned k_looks_in_place = 32;

}  // namespace

using detail::task;

worker::deques_view::deques_view(pool& owner, unsigned self)
    : steal_view(self, owner.map(), 0x5e0a1 + self), owner_(owner) {}

std::size_t worker::deques_view::load(unsigned victim) const noexcept { return owner_.at(victim).load(); }

task* worker::steal() noexcept {
  if (siblings < 2) return nullptr;
  profile_recorder* const p = profile();
  unsigned losses = 0;
  for (unsigned left = round_; left > 0;) {
    const unsigned victim = policy_->next();
    SHOAL_ASSERT(victim < siblings && victim != index, "a victim policy gives another worker of its pool");
    worker& other = owner_.at(victim);
    std::array<task*, k_most_stolen - 1> more;
    std::size_t count = 0;
    lockfree::steal_result<task> taken{nullptr, lockfree::steal_outcome::empty};
    if (!other.tasks.seems_empty())  // spares the fence of an attempt
      taken = losses < k_patience ? other.tasks.steal_batch(more, k_many_tasks, count) : other.tasks.steal();
    if (taken.outcome == lockfree::steal_outcome::empty && !other.arrived_.seems_empty())
      taken = other.arrived_.steal();
    // Partner: next_chunk(), in which a loop of that worker splits its range.
    if (taken.outcome == lockfree::steal_outcome::empty && !other.hungry_thief.load(std::memory_order_relaxed))
      other.hungry_thief.store(true, std::memory_order_relaxed);
    const steal_result result = taken.outcome == lockfree::steal_outcome::won    ? steal_result::won
                                : taken.outcome == lockfree::steal_outcome::lost ? steal_result::lost
                                                                                 : steal_result::empty;
    policy_->tried(victim, result);
    if (p != nullptr) [[unlikely]]
      p->attempt(victim, result);
    if (result == steal_result::won) {
      counts_.stolen += 1 + count;
      // The deque of this worker is empty, so it has room for these. The oldest is popped first.
      while (count > 0) detail::publish(*this, *more[--count]);
      robbed_ = victim;
      return taken.item;
    }
    if (result == steal_result::lost && ++losses < 2 * k_patience)
      machine::pause();
    else
      --left;
  }
  return nullptr;
}

task* worker::give_up() noexcept {
  for (lockfree::deque<task>* const from : {&tasks, &arrived_}) {
    if (from->seems_empty()) continue;
    for (unsigned tries = 0; tries < k_patience; ++tries) {
      const auto taken = from->steal();
      if (taken.outcome == lockfree::steal_outcome::won) {
        fiber::acquire_from(taken.item);
        return taken.item;
      }
      if (taken.outcome == lockfree::steal_outcome::empty) break;
    }
  }
  return nullptr;
}

// Called by a worker that has found work. If it was searching it wakes the next searcher before it runs the work;
// two if there is plenty and a processor for each worker, so that the number of awake workers doubles.
void worker::hand_search_on(bool plenty) noexcept {
  if (!searching_) return;
  searching_ = false;
  owner_.hand_search_on(*this, plenty);
}

bool worker::run_stolen(started& begun) noexcept {
  task* const t = steal();
  if (t == nullptr) return false;
  if (searching_) hand_search_on(owner_.at(robbed_).load() > 1 || detail::can_be_split(*t));
  run(*t, begun, profile_operation::steal);
  return true;
}

// Looks around for a while before parking; true if there is something to do.
bool worker::idle(started& begun) noexcept {
  if (profile_recorder* const p = profile(); p != nullptr) p->looks();
  // Publishers wake nobody else until this searcher has found their work. Its buffers were sent before it parked.
  if (searching_ && run_stolen(begun)) return true;
  if (work_source* const source = owner_.source(); source != nullptr) source->seek(*this);
  if (owner_.hooks().flush(*this)) {
    hand_search_on(false);
    if (profile_recorder* const p = profile(); p != nullptr) p->turns_out(profile_state::messages);
    return true;
  }
  if (searches_.any()) [[unlikely]] {
    hand_search_on(false);
    searches_.go_on();
    return true;
  }
  // At least one round: a searcher that parks without a search would find the same work while it parks, without end.
  const bool crowded = is_crowded();
  const unsigned rounds = std::max(crowded ? k_rounds_if_crowded : owner_.options().spin_rounds, 1U);
  for (unsigned round = 0; round < rounds; ++round) {
    if (!timers_.empty()) about_now_ = owner_.rough_now();
    if (poll_once() || take_inbox() || !ready_.empty() || owner_.stopping() || owner_.anything_apart() ||
        deferred_may_begin()) {
      hand_search_on(false);
      return true;
    }
    if (run_stolen(begun)) return true;
    if (profile_recorder* const p = profile(); p != nullptr) p->spins();
    // Somebody else may need the processor to produce what we wait for.
    if (!crowded && round % 4 == 3) {
      if (yield_to_others()) return false;
    } else {
      for (int i = 0; i < 8; ++i) machine::pause();
    }
    if (profile_recorder* const p = profile(); p != nullptr) p->enter(profile_state::look);
  }
  return false;
}

// What ends a wait may come so soon that two switches would take longer than the wait.
bool worker::look_in_place(const std::size_t& missing) noexcept {
  const fiber::tsan_ignore_scope ignore;
  constexpr unsigned k_looks_per_poll = 8;
  if (!ready_.empty() || profile() != nullptr || !has_room() || !spend_turn()) return false;
  for (unsigned look = 1;; ++look) {
    if (!errands_.empty() || !woken_.empty() || !placed_.empty()) {
      take_inbox();
      run_errands();
    }
    if (missing == 0) return true;
    if (look > k_looks_in_place || !ready_.empty() || anything_given() || !tasks.seems_empty()) return false;
    const bool any = look % k_looks_per_poll == 0 ? poll_once() : owner_.hooks().poll_mail(*this);
    if (!any) machine::pause();
  }
}

bool worker::is_crowded() noexcept { return owner_.executor().now_ns() < crowded_until_ns_; }

// True: it took so long that other programs must have had the processor. Beside one that computes, sched_yield() takes a
// time slice of 4 ms, and whoever waits for this worker waits as long; a sleeper is woken in tens of microseconds. So
// the worker sleeps after few looks for some time, longer if this happens again soon after.
bool worker::yield_to_others() noexcept {
  ++counts_.yields;
  machine::executor& executor = owner_.executor();
  const std::uint64_t before_ns = executor.now_ns();
  executor.yield();
  const std::uint64_t now_ns = executor.now_ns();
  if (now_ns - before_ns < k_preempted_ns) return false;
  const bool again = now_ns - crowded_until_ns_ < 4 * crowded_for_ns_;
  crowded_for_ns_ = again ? std::min(2 * crowded_for_ns_, k_longest_crowded_ns) : k_first_crowded_ns;
  crowded_until_ns_ = now_ns + crowded_for_ns_;
  return true;
}

// `in_deques`: also what other workers have published.
bool worker::anything_to_do(bool able, bool in_deques) noexcept {
  if (owner_.stopping() || !woken_.empty() || !errands_.empty() || owner_.hooks().pending(*this)) return true;
  if (!able) return false;
  if (!placed_.empty() || owner_.anything_apart() || deferred_may_begin()) return true;
  for (unsigned i = 0; in_deques && i < siblings; ++i)
    if (reached_[i] && (!owner_.at(i).tasks.seems_empty() || !owner_.at(i).arrived_.seems_empty())) return true;
  return false;
}

// Sleeps until rung. `able`: to begin what others publish; a worker without a stack must not be rung for that in the
// place of another.
void worker::park(bool able) noexcept {
  holds_back_.store(!deferred_.empty(), std::memory_order_relaxed);
  if (!able) {
    bell_->prepare();
    if (anything_to_do(false, false)) {
      bell_->cancel();
    } else {
      starved_.store(true, std::memory_order_relaxed);
      sleep();
      starved_.store(false, std::memory_order_relaxed);
    }
    return;
  }
  parked_.store(true, std::memory_order_relaxed);
  // Whoever publishes only reads the sign, without a fence: the sleeper that turns it on fences for both sides.
  const auto fence_all = [this] {
    if (owner_.heavy_fences()) {
      ++counts_.heavy_fences;
      machine::heavy_fence();
    } else {
      lockfree::std_atomics::fence(std::memory_order_seq_cst);  // partner: the one in pool::wake_one()
    }
  };
  searching_ = owner_.sleepers().park(
      owner_.slot(index), searching_, *bell_, fence_all, [this](bool all) { return anything_to_do(true, all); },
      [this] { sleep(); });
  parked_.store(false, std::memory_order_relaxed);
}

// A step of a worker that is not active: it begins what only it can run: errands, tasks placed or kept here, urgent tasks. What
// lies in its deques is for the active workers.
void worker::go_on_inactive(started& begun) noexcept {
  if (searching_) hand_search_on(false);  // another one looks for what this one was woken for
  task* t = next_given();
  if (t == nullptr) t = next_kept();
  if (t != nullptr) return run(*t, begun);
  if (poll_once()) return;
  if (profile_recorder* const p = profile(); p != nullptr) p->looks();
  if (owner_.hooks().flush(*this)) return;
  if (searches_.any()) return searches_.go_on();
  if (!tasks.seems_empty() || !arrived_.seems_empty()) owner_.wake_one(this);
  sleep_inactive();
}

// It is not among the sleepers, whom others wake for what they publish.
void worker::sleep_inactive() noexcept {
  if (!ready_.empty()) return;  // an errand, or what was sent, has ended a wait
  holds_back_.store(!deferred_.empty(), std::memory_order_relaxed);
  parked_.store(true, std::memory_order_relaxed);
  bell_->prepare();
  // After prepare(), which fences. Partners: pool::set_active(), place(), take_back().
  if (anything_to_do(false, false) || !placed_.empty() || deferred_may_begin() || owner_.is_active(index))
    bell_->cancel();
  else
    sleep();
  parked_.store(false, std::memory_order_relaxed);
}

void worker::sleep() noexcept {
  // Partner: stillness. What it reads of a sleeping worker is as it was here, if this is the same before and after.
  rests_.fetch_add(1, std::memory_order_seq_cst);
  sleep_until_rung();
  rests_.fetch_add(1, std::memory_order_seq_cst);
  lockfree::std_atomics::fence(std::memory_order_seq_cst);  // what follows is not written before
  about_now_ = owner_.rough_now();
}

void worker::sleep_until_rung() noexcept {
  std::int64_t slept_ns = 0;
  ++counts_.parks;
  if (profile_recorder* const p = profile(); p != nullptr) p->enter(profile_state::park);
  while (bell_->may_sleep()) {
    ++counts_.sleeps;
    const bool surplus = may_give_back_stacks();
    const std::int64_t look_ns = owner_.hooks().longest_sleep_ns(*this);
    std::int64_t limit_ns = surplus ? std::max(k_until_trim_ns - slept_ns, std::int64_t{0}) : machine::k_no_timeout;
    const auto no_longer_than = [&limit_ns](std::int64_t ns) {
      if (ns >= 0) limit_ns = limit_ns < 0 ? ns : std::min(limit_ns, ns);
    };
    no_longer_than(look_ns);
    no_longer_than(timers_.sleep_ns());
    if (owner_.executor().wait(bell_->word(), lockfree::doorbell<>::k_announced, limit_ns, bell_shared_) !=
        machine::futex_result::timeout)
      continue;
    slept_ns += limit_ns;
    // Nothing to do for so long: the memory of the stacks is worth more to others.
    if (surplus && slept_ns >= k_until_trim_ns) {
      give_back_stacks();
      slept_ns = 0;
    }
    if ((look_ns >= 0 && owner_.hooks().pending(*this)) || timers_.sleep_ns() == 0) bell_->cancel();
  }
  if (profile_recorder* const p = profile(); p != nullptr) p->wakes_from_park();
}

// Iterations that yield until others have run, which are held back, never sleep; so nobody else sees that nothing goes
// on.
void worker::look_for_yields_in_vain(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t k_patience_ns = 5'000'000'000;
  constexpr std::uint64_t k_many_waits = 10'000;
  if (deferred_.empty() || counts_.run != run_before_ || !full()) {
    yields_since_ns_ = now_ns;
    run_before_ = counts_.run;
    left_before_ = counts_.left;
    return;
  }
  if (now_ns - yields_since_ns_ < k_patience_ns || counts_.left - left_before_ < k_many_waits ||
      !owner_.take_warning_of_yields())
    return;
  base::warn(
      "as many iterations wait on worker {} as the settings allow, and for {} s tasks have only yielded there; if they "
      "yield until later iterations have run, raise SHOAL_WAITING_MEMORY and SHOAL_STACKS (half of the stacks are for "
      "such iterations), or let iterations wait for earlier ones only",
      index, k_patience_ns / 1'000'000'000);
}

bool worker::ring() noexcept {
  if (!bell_->ring()) return false;
  if (detail::t_worker != nullptr) ++this_worker()->counts_.wakes;
  profile_recorder* const p = detail::t_worker == nullptr ? nullptr : this_worker()->profile();
  if (p == nullptr) {
    owner_.executor().wake(bell_->word(), 1, bell_shared_);
  } else {
    const auto began = p->ring_begins();
    owner_.executor().wake(bell_->word(), 1, bell_shared_);
    p->ring_ends(began);
  }
  return true;
}

void worker::make_ready(fiber::fiber& f) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::release_to(&f);
  if (detail::t_worker == this) {
    ready_.push(&f);
  } else {
    note_end();
    if (detail::t_worker != nullptr && detail::t_worker->signs == signs) {  // a sibling
      if (woken_.push(&f)) ring();
    } else {
      make_ready_from_outside(f);
    }
  }
}

// From the push on, the task and with it the pool may end: the count keeps the pool until the bell has been rung.
[[gnu::noinline]] void worker::make_ready_from_outside(fiber::fiber& f) noexcept {
  pool& owner = owner_;
  owner.begin_wake_from_outside();
  const bool rings = woken_.push(&f);
  if (owner.options().before_ring_from_outside != nullptr) owner.options().before_ring_from_outside();
  if (rings) ring();
  owner.end_wake_from_outside();
}

void worker::give_errand(errand& e) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::release_to(static_cast<task*>(&e));
  if (errands_.push(&e)) ring();
}

void worker::place(placed_task& t) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::release_to(static_cast<task*>(&t));
  if (worker* const me = this_worker(); me != nullptr && ++me->spawn_clock == 0) me->time_next_spawn(1);
  if (placed_.push(&t)) ring();
}

// No task waits for placed tasks any more, since the pool stops.
void worker::drop_placed() noexcept {
  take_inbox();
  started own;
  native_notes_.running = &own;  // the loop that it named has returned
  run_errands();                 // surveys that came late
  while (placed_first_ != nullptr) run(*next_placed(), own);
  while (task* t = take_arrived()) run(*t, own);
  while (task* t = tasks.pop()) run(*t, own);  // continuations without a waiter
}

bool worker::poll_timed(profile_recorder& profile) noexcept {
  const auto began = profile.poll_begins();
  const bool served = owner_.hooks().poll(*this);
  profile.poll_ends(began, served);
  return served | (!woken_.empty() && take_inbox());
}

}  // namespace shoal::sched
