// SPDX-License-Identifier: Apache-2.0
// The record of one worker while its pool is profiled: its current state and since when, the number of operations, and
// the times of some short operations. If a trace is wanted, too, the same calls write its events.
// Who may call: the worker's own thread; try_read() and the counters: any thread. Never switches tasks.
// Guarantees: counts are exact. Each change between running, searching, pausing and parking is timed, and so is
// executing messages and waking. Shorter operations (spawn, get, ...) are timed at random, less the time of reading the
// clock. The time of an operation excludes operations timed inside it. Tests: tests/unit/sched/profile_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "lockfree/state_clock.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/random.hpp"
#include "shoal/steal_policy.hpp"
#include "trace/event_ring.hpp"

namespace shoal::sched {

class worker;

/// What a worker is at. `busy`: it runs tasks, with the short operations between them.
enum class profile_state : std::uint8_t { busy, get, steal, messages, look, spin, park };
inline constexpr std::size_t k_profile_states = 7;

/// Short operations while it is busy.
/// `messages`: a poll that found none; `serve`: one that found some.
enum class profile_operation : std::uint8_t { spawn, get, resume, steal, look, messages, serve, ring };
inline constexpr std::size_t k_profile_operations = 8;

inline constexpr std::size_t k_worker_distances = 6;

class alignas(64) profile_recorder {
public:
  using counter = std::atomic<std::uint64_t>;  // partner: the profiler, which reads what the owner writes
  using clock = lockfree::state_clock<k_profile_states>;

  /// `epoch` and `started` are the pool's: how often profiling was switched on, and when last.
  profile_recorder(worker& owner, const std::atomic<std::uint32_t>& epoch, const std::atomic<std::uint64_t>& started,
                   std::int64_t clock_cost);

  // --- the owner ---
  /// Another round of its loop.
  void turn() noexcept {
    join_if_new(profile_state::busy);
    if ((!pending_ || handed_) && --until_turn_ == 0) mark_turn();
  }
  /// A task begins: what led to it was `how`. `spawned`: it lay in a deque.
  void begins(profile_operation how, bool spawned, const void* code) noexcept;
  /// The task that has begun is known by other code.
  void names(const void* code) noexcept {
    if (events_ != nullptr) events_->add(trace::event_kind::task_name, 0, 0, reinterpret_cast<std::uint64_t>(code));
  }
  void ended() noexcept {
    if (events_ != nullptr) events_->add(trace::event_kind::task_end);
  }
  /// `stack` is its address; `object`: what goes with `why`.
  void leaves(detail::wait_kind why, const void* stack, const void* object) noexcept;
  /// A task continues: before the switch, and after it if the task left while profiled. Times the switch.
  void hands_over() noexcept;
  void arrives(const void* code, const void* stack) noexcept {
    join_if_new(profile_state::busy);
    resumes(code, stack);
    if (pending_ && handed_) close_turn(profile_operation::resume);
  }
  /// A task starts that was not spawned: a deferred range, or one that a thread of the program has submitted.
  void begins_unspawned() noexcept { bump(unspawned); }

  void enter(profile_state next) noexcept;
  /// The last own task has ended and a first look elsewhere found nothing.
  void looks() noexcept;
  void spins() noexcept {
    bump(rounds);
    enter(profile_state::spin);
  }
  /// What it is at turns out to be this.
  void turns_out(profile_state what) noexcept { charged_ = what; }
  void wakes_from_park() noexcept;
  void attempt(unsigned victim, steal_result result) noexcept {
    bump(attempts[static_cast<std::size_t>(distance_[victim])][static_cast<std::size_t>(result)]);
    if (events_ != nullptr && result == steal_result::won) events_->add(trace::event_kind::steal, 0, victim);
  }
  /// A task continues, of which the profile takes no notice otherwise.
  void resumes(const void* code, const void* stack) noexcept {
    if (events_ != nullptr)
      events_->add(trace::event_kind::task_resume, 0, number_of(stack), reinterpret_cast<std::uint64_t>(code));
  }
  /// Where events go; nullptr: nowhere. For the owner, and while it has not begun.
  void trace_into(trace::event_ring* events) noexcept { events_ = events; }
  trace::event_ring* events() const noexcept { return events_; }

  struct moment {
    std::uint64_t ticks = 0;  // 0: not while busy
    std::int64_t inside = 0;
    std::uint64_t spawned = 0;
  };
  /// Around serving messages, ringing, spawning. The result of `_begins` goes to `_ends`.
  moment poll_begins() noexcept;
  void poll_ends(const moment& began, bool served) noexcept;
  moment ring_begins() noexcept;
  void ring_ends(const moment& began) noexcept;
  moment spawn_begins() noexcept { return now(); }
  void spawn_ends(const moment& began) noexcept;
  void publish_spawned() noexcept;
  /// The owner's part of switching on, on its own thread: `was` since then, running now.
  void join(profile_state was) noexcept;

  // --- any thread ---
  bool try_read(clock::reading& into) const noexcept { return clock_.try_read(into); }

  std::array<counter, k_profile_operations> count{};
  std::array<counter, k_profile_operations> timed{};                   // of these
  std::array<std::atomic<std::int64_t>, k_profile_operations> sum{};   // ticks of those timed
  std::array<std::atomic<std::int64_t>, k_profile_operations> once{};  // ticks that stand for themselves only
  std::array<std::array<counter, 3>, k_worker_distances> attempts{};   // by distance and result
  counter begun{0};                                                    // tasks from deques
  counter unspawned{0};                                                // of these
  counter left{0};
  counter idle_polls{0};    // not in count
  counter idle_spawned{0};  // of those in `count`, while an idle worker executed messages
  counter served{0};        // polls that found something
  counter rounds{0};        // of looking and finding nothing
  counter parks{0};

private:
  // Longer operations were interrupted by the system: they are counted as they are, not as a sample.
  static constexpr double k_longest_us = 50;
  // On average one in so many is timed; at random, to be independent of the program's rhythm.
  static constexpr std::uint32_t k_every_turn = 64;
  static constexpr std::uint32_t k_every_poll = 16;
  static constexpr std::uint32_t k_every_spawn = 256;

  static std::uint32_t number_of(const void* stack) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(stack) >> 4);
  }
  template <class T>
  static void bump(std::atomic<T>& a, T by = 1) noexcept {
    a.store(a.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::uint32_t about(std::uint32_t mean) noexcept;
  std::uint64_t ticks() noexcept;
  moment now() noexcept;
  void ends(profile_operation op, const moment& began, bool alone = false) noexcept;
  void mark_turn() noexcept;
  void close_turn(profile_operation how) noexcept;
  void join_if_new(profile_state was) noexcept {
    if (clock_.epoch() != epoch_.load(std::memory_order_relaxed)) [[unlikely]]
      join(was);
  }

  clock clock_;
  trace::event_ring* events_ = nullptr;
  worker& owner_;
  const std::atomic<std::uint32_t>& epoch_;
  const std::atomic<std::uint64_t>& started_;
  const std::int64_t clock_cost_;
  const std::int64_t longest_;
  std::uint64_t last_ticks_ = 0;
  profile_state charged_ = profile_state::busy;  // what the time since the last change counts for
  std::uint64_t spawned_before_ = 0;             // of what the owner has spawned, counted so far
  std::uint64_t spawned_at_change_ = 0;
  xoshiro256ss random_;
  std::uint32_t until_turn_ = 1;
  std::uint32_t until_poll_ = 1;
  bool pending_ = false;  // between two tasks, timed since turn_
  bool handed_ = false;   // a task continues: only it ends the time
  moment turn_;
  std::int64_t inside_ = 0;  // ticks of all that was timed
  std::vector<worker_distance> distance_;
};

}  // namespace shoal::sched
