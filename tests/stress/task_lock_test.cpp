// SPDX-License-Identifier: Apache-2.0
// Tasks at locks of every kind, with and without the hand-over on their worker in front, while they yield, wait and
// spawn. How long, and with which seed: stress/rounds.hpp.
#include "shoal/task_lock.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sched/pool.hpp"
#include "shoal/locks.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

// Returns whether all was right.
template <class Lock>
bool crowd(Lock& lock, std::uint64_t seed) {
  xoshiro256ss dice(seed);
  const std::size_t tasks = 1 + dice.below(60);
  const std::uint64_t rounds = 1 + dice.below(60);
  std::uint64_t count = 0;
  std::uint64_t entered = 0;
  bool inside = false;
  bool good = true;
  std::atomic<std::uint64_t> gave_up{0};
  task_group group;
  for (std::size_t t = 0; t < tasks; ++t)
    group.run([&, t] {
      xoshiro256ss random(splitmix64::at(seed, 100 + t));
      for (std::uint64_t i = 0; i < rounds; ++i) {
        if (random.below(4) == 0) {
          if (!lock.try_lock()) {
            gave_up.fetch_add(1, std::memory_order_relaxed);
            continue;
          }
        } else {
          lock.lock(static_cast<unsigned>(random.below(3)));
        }
        good = good && !inside;
        inside = true;
        ++count;
        ++entered;
        if (random.below(4) == 0) yield();
        inside = false;
        lock.unlock();
        if (random.below(3) == 0) yield();
      }
    });
  group.wait();
  return good && count == entered && entered + gave_up.load() == tasks * rounds && lock.try_lock();
}

template <class Lock, class... Arguments>
bool play(std::uint64_t seed, bool behind_a_switch, Arguments... arguments) {
  if (behind_a_switch) {
    task_lock<Lock> lock(static_cast<unsigned>(splitmix64::at(seed, 5) % 40), arguments...);
    const bool good = crowd(lock, seed);
    lock.unlock();
    return good;
  }
  Lock lock(arguments...);
  const bool good = crowd(lock, seed);
  lock.unlock();
  return good;
}

bool play_any(std::uint64_t seed) {
  xoshiro256ss random(seed);
  const bool behind = random.below(2) == 0;
  const auto bound = static_cast<unsigned>(random.below(20));
  switch (random.below(8)) {
    case 0: return play<tas_lock<task_wait>>(seed, behind);
    case 1: return play<ticket_lock<task_wait>>(seed, behind);
    case 2: return play<priority_lock<task_wait>>(seed, behind, 3U);
    case 3: return play<mcs_lock<task_wait>>(seed, behind);
    case 4: return play<clh_lock<task_wait>>(seed, behind, 3U + bound);
    case 5:
      return play<hierarchical_lock<task_wait>>(seed, behind,
                                                package_map{2, [] { return detail::worker_here().index % 2; }}, bound);
    case 6: return play<bounded_lock<task_wait>>(seed, behind, bound);
    default: return play<message_lock<task_wait>>(seed, behind, bound);
  }
}

TEST(task_lock_stress, one_at_a_time) {
  stress::play_rounds([&](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(4));
    options.most_stacks = std::size_t{1} << 14;
    pool p(options);
    bool good = true;
    p.run([&] {
      for (std::uint64_t i = 0; i < 8; ++i) good = good && play_any(splitmix64::at(seed, 10 + i));
    });
    ASSERT_TRUE(good);
  });
}

}  // namespace
}  // namespace shoal::sched
