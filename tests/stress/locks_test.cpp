// SPDX-License-Identifier: Apache-2.0
// Every kind of lock with every way of waiting: random numbers of threads, classes, tries, events, lengths inside and
// outside. One holder at a time, nothing lost, and all come to an end. How long, and with which seed:
// stress/rounds.hpp.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "shoal/locks.hpp"
#include "shoal/random.hpp"
#include "stress/rounds.hpp"

namespace shoal {
namespace {

struct guarded {
  std::unique_ptr<any_lock> lock;
  std::uint64_t inside = 0;
  std::uint64_t entries = 0;
};

void idle(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) detail::lock_pause();
}

// Returns how often it was inside.
std::uint64_t use(guarded& g, std::uint64_t seed, std::uint64_t rounds, bool& good) {
  xoshiro256ss random(seed);
  std::uint64_t entered = 0;
  lock_event event;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    switch (random.below(4)) {
      case 0:
        if (!g.lock->try_lock()) {
          std::this_thread::yield();
          continue;
        }
        break;
      case 1:
        random.below(2) == 0 ? event.raise() : event.reset();
        g.lock->lock_for(event);
        break;
      default: g.lock->lock(static_cast<unsigned>(random.below(4)));
    }
    good = good && g.inside++ == 0;
    ++g.entries;
    idle(random.below(20));
    if (random.below(64) == 0) std::this_thread::yield();  // a holder that loses its processor
    good = good && --g.inside == 0;
    g.lock->unlock();
    ++entered;
    idle(random.below(20));
    if (random.below(512) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  }
  return entered;
}

void play(std::uint64_t seed) {
  xoshiro256ss random(seed);
  const auto kind = lock_kinds()[random.below(lock_kinds().size())];
  // Spinning with more threads than processors takes a turn of the system for each hand-over.
  const auto wait = wait_kinds()[1 + random.below(wait_kinds().size() - 1)];
  const std::size_t threads = 1 + random.below(6);
  lock_options options;
  options.classes = static_cast<unsigned>(1 + random.below(4));
  options.bound = static_cast<unsigned>(random.below(4) == 0 ? 0 : random.below(64));
  options.packages = {2, [] { return static_cast<unsigned>(thread_wait<wait_kind::yield>::place() & 1); }};
  SCOPED_TRACE(std::string(kind) + " " + std::string(wait));
  guarded g{make_lock(kind, parse_wait_kind(wait), options)};
  std::vector<std::uint64_t> entered(threads);
  std::vector<char> good(threads, 1);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      bool fine = true;
      entered[t] = use(g, splitmix64::at(seed, t), 500, fine);
      good[t] = fine;
    });
  for (std::thread& t : all) t.join();
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < threads; ++t) {
    EXPECT_TRUE(good[t]) << "two were inside at once";
    sum += entered[t];
  }
  EXPECT_EQ(g.entries, sum);
  EXPECT_TRUE(g.lock->try_lock());
  g.lock->unlock();
}

TEST(locks_stress, one_at_a_time) {
  stress::play_rounds([&](std::uint64_t seed) { play(seed); });
}

}  // namespace
}  // namespace shoal
