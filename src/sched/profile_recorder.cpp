// SPDX-License-Identifier: Apache-2.0
#include "sched/profile_recorder.hpp"

#include <algorithm>

#include "machine/thread_id.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

constexpr std::size_t at(profile_operation op) noexcept { return static_cast<std::size_t>(op); }
constexpr std::uint32_t number(profile_state s) noexcept { return static_cast<std::uint32_t>(s); }
constexpr std::uint32_t k_busy = number(profile_state::busy);

trace::worker_state traced(profile_state s) noexcept {
  switch (s) {
    case profile_state::busy: return trace::worker_state::running;
    case profile_state::get:
    case profile_state::look: return trace::worker_state::looking;
    case profile_state::steal: return trace::worker_state::stealing;
    case profile_state::messages: return trace::worker_state::messages;
    case profile_state::spin: return trace::worker_state::spinning;
    case profile_state::park: return trace::worker_state::parked;
  }
  return trace::worker_state::running;
}

}  // namespace

profile_recorder::profile_recorder(worker& owner, const std::atomic<std::uint32_t>& epoch,
                                   const std::atomic<std::uint64_t>& started, std::int64_t clock_cost)
    : owner_(owner),
      epoch_(epoch),
      started_(started),
      clock_cost_(clock_cost),
      longest_(static_cast<std::int64_t>(k_longest_us * base::ticks_per_us())),
      random_(0x9f0f11e + owner.index) {
  const worker_map& map = owner.owner().map();
  for (unsigned victim = 0; victim < map.workers(); ++victim)
    distance_.push_back(victim == owner.index ? worker_distance::core : map.distance(owner.index, victim));
}

std::uint32_t profile_recorder::about(std::uint32_t mean) noexcept {
  return 1 + static_cast<std::uint32_t>(random_.below(2 * mean - 1));
}

// A thread that is not pinned may move to a core whose counter is a little lower.
std::uint64_t profile_recorder::ticks() noexcept { return last_ticks_ = std::max(base::ticks(), last_ticks_); }

profile_recorder::moment profile_recorder::now() noexcept { return {ticks(), inside_, owner_.spawned()}; }

// Tasks spawned meanwhile count as spawns already.
void profile_recorder::ends(profile_operation op, const moment& began, bool alone) noexcept {
  const auto passed = static_cast<std::int64_t>(ticks() - began.ticks) - clock_cost_;
  std::int64_t own = passed - (inside_ - began.inside);
  const std::uint64_t spawns = timed[at(profile_operation::spawn)].load(std::memory_order_relaxed);
  const std::uint64_t spawned = owner_.spawned() - began.spawned;
  if (spawned > 0 && spawns > 0 && op != profile_operation::spawn)
    own -= sum[at(profile_operation::spawn)].load(std::memory_order_relaxed) / static_cast<std::int64_t>(spawns) *
           static_cast<std::int64_t>(spawned);
  if (alone || own > longest_) {
    bump(once[at(op)], own);
  } else {
    bump(timed[at(op)]);
    bump(sum[at(op)], own);
  }
  if (op != profile_operation::spawn) inside_ += own;  // which its number takes off
}

void profile_recorder::join(profile_state was) noexcept {
  const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);  // partner: profiler::start()
  const std::uint64_t since = started_.load(std::memory_order_relaxed);
  if (events_ != nullptr) events_->note_thread(machine::thread_id());
  last_ticks_ = std::max(last_ticks_, since);
  clock_.restart(k_busy, ticks(), number(was), since, epoch);
  charged_ = profile_state::busy;
  pending_ = handed_ = false;
  until_turn_ = until_poll_ = 1;
  spawned_before_ = spawned_at_change_ = owner_.spawned();
  owner_.time_next_spawn(1);
}

void profile_recorder::publish_spawned() noexcept {
  const std::uint64_t spawned = owner_.spawned();
  bump(count[at(profile_operation::spawn)], spawned - spawned_before_);
  spawned_before_ = spawned;
}

void profile_recorder::enter(profile_state next) noexcept {
  join_if_new(profile_state::spin);
  const std::uint64_t spawned = owner_.spawned();
  if (clock_.state() != k_busy) bump(idle_spawned, spawned - spawned_at_change_);
  spawned_at_change_ = spawned;
  if (next == profile_state::park) bump(parks);
  if (events_ != nullptr && next != profile_state::busy)
    events_->add(trace::event_kind::state, static_cast<std::uint16_t>(traced(next)));
  clock_.enter(number(next), ticks(), number(charged_));
  charged_ = next;
}

void profile_recorder::wakes_from_park() noexcept {
  join_if_new(profile_state::park);
  enter(profile_state::look);
}

void profile_recorder::looks() noexcept {
  join_if_new(profile_state::busy);
  publish_spawned();
  if (clock_.state() == k_busy) {
    bump(count[at(profile_operation::look)]);
    if (!handed_) close_turn(profile_operation::look);
  }
  enter(profile_state::look);
}

void profile_recorder::mark_turn() noexcept {
  until_turn_ = about(k_every_turn);
  pending_ = handed_ = false;
  if (clock_.state() != k_busy) return;
  pending_ = true;
  turn_ = now();
}

void profile_recorder::close_turn(profile_operation how) noexcept {
  if (!pending_) return;
  pending_ = handed_ = false;
  ends(how, turn_);
}

void profile_recorder::begins(profile_operation how, bool spawned, const void* code) noexcept {
  join_if_new(profile_state::busy);
  if (events_ != nullptr)
    events_->add(trace::event_kind::task_begin, how == profile_operation::steal ? 1 : 0, 0,
                 reinterpret_cast<std::uint64_t>(code));
  bump(count[at(how)]);
  if (spawned) bump(begun);
  if (clock_.state() == k_busy) {
    if (!handed_) close_turn(how);
  } else {
    if (charged_ == profile_state::look)
      charged_ = how == profile_operation::steal ? profile_state::steal : profile_state::get;
    enter(profile_state::busy);
  }
  publish_spawned();
}

void profile_recorder::leaves(detail::wait_kind why, const void* stack, const void* object) noexcept {
  join_if_new(profile_state::busy);
  if (events_ != nullptr)
    events_->add(trace::event_kind::task_wait, static_cast<std::uint16_t>(why), number_of(stack),
                 detail::is_shared(why) ? reinterpret_cast<std::uint64_t>(object) : 0);
  bump(left);
  if ((!pending_ || handed_) && --until_turn_ == 0) mark_turn();
}

void profile_recorder::hands_over() noexcept {
  join_if_new(profile_state::busy);
  bump(count[at(profile_operation::resume)]);
  handed_ = pending_;
  if (clock_.state() != k_busy) {
    if (charged_ == profile_state::look) charged_ = profile_state::get;
    enter(profile_state::busy);
  }
  publish_spawned();
}

profile_recorder::moment profile_recorder::poll_begins() noexcept {
  if (clock_.state() != k_busy) {
    bump(idle_polls);
    return {};
  }
  return now();  // it may find something
}

void profile_recorder::poll_ends(const moment& began, bool any) noexcept {
  if (any) bump(served);
  if (began.ticks == 0) {
    if (any && clock_.state() != k_busy) turns_out(profile_state::messages);
  } else if (any) {
    bump(count[at(profile_operation::serve)]);
    ends(profile_operation::serve, began, true);
  } else {
    bump(count[at(profile_operation::messages)]);
    if ((!pending_ || handed_) && --until_poll_ != 0) return;
    if (until_poll_ == 0) until_poll_ = about(k_every_poll);
    ends(profile_operation::messages, began);
  }
}

profile_recorder::moment profile_recorder::ring_begins() noexcept {
  bump(count[at(profile_operation::ring)]);
  return clock_.state() == k_busy ? now() : moment{};
}

void profile_recorder::ring_ends(const moment& began) noexcept {
  if (began.ticks != 0) ends(profile_operation::ring, began, true);
}

void profile_recorder::spawn_ends(const moment& began) noexcept {
  ends(profile_operation::spawn, began);
  owner_.time_next_spawn(about(k_every_spawn));
  publish_spawned();
}

}  // namespace shoal::sched
