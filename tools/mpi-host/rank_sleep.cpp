// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-host/rank_sleep.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "rank/abi/entry.hpp"
#include "sched/pool.hpp"
#include "tools/mpi-host/rank_libc.hpp"

namespace shoal::host {
namespace {

// Shorter ones are over before a thread could wake the rank.
constexpr std::uint64_t k_short_ns = 100'000;

struct sleeper {
  std::uint64_t until_ns;
  rank_libc* of;
  detail::suspended* task;
  interruption interrupted;
};

// Of the process; never destroyed, since its thread goes on.
class sleepers {
public:
  sleepers() { ::sem_init(&bell_, 0, 0); }

  // False: there is no thread for them.
  bool start() noexcept {
    const std::lock_guard hold(mutex_);
    if (runs_) return true;
    sigset_t all_signals;
    sigset_t before;
    ::sigfillset(&all_signals);
    ::pthread_sigmask(SIG_SETMASK, &all_signals, &before);
    pthread_t thread;
    // Not the function of ranks: it belongs to none of them.
    static auto* const create = next<decltype(::pthread_create)>("pthread_create");
    runs_ = create(
                &thread, nullptr, [](void* raw) -> void* { static_cast<sleepers*>(raw)->run(); }, this) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (runs_) ::pthread_detach(thread);
    return runs_;
  }

  void add(sleeper& s) {
    const std::lock_guard hold(mutex_);
    all_.push_back(&s);
    if (s.until_ns < next_ns_) ring();
  }
  void ring() noexcept { ::sem_post(&bell_); }

private:
  [[noreturn]] void run() noexcept {
    for (;;) {
      const std::uint64_t until = wake_those_due();
      const timespec at{static_cast<time_t>(until / 1'000'000'000), static_cast<long>(until % 1'000'000'000)};
      ::sem_clockwait(&bell_, CLOCK_MONOTONIC, &at);
    }
  }

  // When the next one is due.
  std::uint64_t wake_those_due() noexcept {
    const std::lock_guard hold(mutex_);
    const std::uint64_t now = sleep_clock_ns();
    next_ns_ = now + 3'600'000'000'000;
    const auto due = [&](sleeper* s) {
      s->interrupted = s->of->interrupted.load(std::memory_order_acquire);
      if (s->until_ns <= now || s->interrupted != interruption::none) return true;
      next_ns_ = std::min(next_ns_, s->until_ns);
      return false;
    };
    const auto first = std::partition(all_.begin(), all_.end(), [&](sleeper* s) { return !due(s); });
    for (auto at = first; at != all_.end(); ++at) detail::wake((*at)->task);  // from then on it may be gone
    all_.erase(first, all_.end());
    return next_ns_;
  }

  std::mutex mutex_;
  std::vector<sleeper*> all_;
  std::uint64_t next_ns_ = 0;  // the thread looks again then
  bool runs_ = false;
  sem_t bell_;
};

// Partners: the first sleeper, and handlers of signals.
std::atomic<sleepers*> the_sleepers{nullptr};

sleepers* started_sleepers() noexcept {
  static sleepers* const made = [] {
    auto* const s = new (std::nothrow) sleepers;
    the_sleepers.store(s, std::memory_order_release);
    return s;
  }();
  return made != nullptr && made->start() ? made : nullptr;
}

// On a simulated machine, in virtual time.
void sleep_simulated(rank::rank_state& me, std::uint64_t until_ns) noexcept {
  machine::executor& by = me.home.owner().executor();
  const std::uint64_t now_ns = by.now_ns();
  if (until_ns <= now_ns) {
    me.home.yield();
    return;
  }
  const auto ns = static_cast<std::int64_t>(std::min<std::uint64_t>(until_ns - now_ns, INT64_MAX));
  detail::suspended* const task = detail::this_task();
  std::unique_ptr<machine::executor::thread> clock;
  try {
    clock = by.start_thread("sleep", [&by, task, ns] {
      std::atomic<std::uint32_t> never{0};
      by.wait(never, 0, ns, false);
      detail::wake(task);
    });
  } catch (const std::exception& e) {
    me.job.abort_job(me.job, 1, fmt::format("rank {} cannot sleep on a simulated machine: {}", me.world, e.what()));
  }
  const rank::other_wait note(me.world, "sleep", "its time");
  detail::leave(detail::wait_kind::thread, &note);
}

}  // namespace

std::uint64_t sleep_clock_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void note_interruption(unsigned local, interruption how) noexcept {
  std::atomic<interruption>& at = libc_of_number(local).interrupted;
  if (at.load(std::memory_order_relaxed) < how) at.store(how, std::memory_order_release);
}

void ring_sleepers() noexcept {
  if (sleepers* const all = the_sleepers.load(std::memory_order_acquire); all != nullptr) all->ring();
}

sleep_end sleep_until(std::uint64_t until_ns) noexcept {
  rank::rank_state* const me = rank::current_rank();
  if (me == nullptr || !in_own_process()) return sleep_end::not_a_rank;
  rank_libc& mine = libc_of(*me);
  mine.interrupted.store(interruption::none, std::memory_order_relaxed);
  const rank::abi::setting_aside aside(*me, "sleep");
  const bool is_real = me->home.owner().executor().has_real_clock();
  if (is_real && ranks_here() == 1 && mine.threads.load(std::memory_order_relaxed) == 0) {
    me->home.yield();  // messages leave that it has sent
    return sleep_end::not_a_rank;
  }
  if (!is_real) {
    sleep_simulated(*me, until_ns);
    return sleep_end::in_time;
  }
  const std::uint64_t now = sleep_clock_ns();
  if (until_ns < now + k_short_ns) {
    do me->home.yield();
    while (sleep_clock_ns() < until_ns);
    return sleep_end::in_time;
  }
  sleepers* const all = started_sleepers();
  if (all == nullptr) return sleep_end::not_a_rank;
  sleeper s{until_ns, &mine, detail::this_task(), interruption::none};
  sched::pool& pool = me->home.owner();
  pool.begin_wake_from_outside();  // the thread ends the wait for certain: the job neither hangs nor stands still
  try {
    all->add(s);
  } catch (const std::exception&) {
    pool.end_wake_from_outside();
    return sleep_end::not_a_rank;
  }
  const rank::other_wait note(me->world, "sleep", "its time");
  detail::leave(detail::wait_kind::thread, &note);
  pool.end_wake_from_outside();
  if (s.interrupted == interruption::none || sleep_clock_ns() >= until_ns) return sleep_end::in_time;
  return s.interrupted == interruption::ends ? sleep_end::interrupted : sleep_end::interrupted_to_restart;
}

}  // namespace shoal::host

// For start_sleeps.c.
SHOAL_INTERPOSED unsigned long long shoal_mpi_host_sleep_clock() {
  const shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me == nullptr || me->home.owner().executor().has_real_clock()) return shoal::host::sleep_clock_ns();
  return me->home.owner().executor().now_ns();
}
SHOAL_INTERPOSED int shoal_mpi_host_sleep(unsigned long long until_ns) {
  return static_cast<int>(shoal::host::sleep_until(until_ns));
}
