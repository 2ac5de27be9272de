// SPDX-License-Identifier: Apache-2.0
// Tasks at mutexes, shared mutexes, semaphores, futures, groups and barriers, with limits that come about when the event
// does, within scopes that stop at any moment. Nothing is lost, nothing comes twice, nobody hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/barrier.hpp"
#include "shoal/blocking.hpp"
#include "shoal/coroutine.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"
#include "shoal/shared_mutex.hpp"
#include "shoal/sleep.hpp"
#include "shoal/stop_scope.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/when_any.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

using std::chrono::microseconds;

bool on_pool(std::uint64_t seed, const std::function<bool(xoshiro256ss&)>& round) {
  xoshiro256ss dice(seed);
  pool_options options;
  options.workers = static_cast<unsigned>(1 + dice.below(5));
  options.most_stacks = std::size_t{1} << 13;
  pool p(options);
  bool good = false;
  p.run([&] { good = round(dice); });
  return good;
}

// Readers and writers, patient and impatient ones.
bool share(xoshiro256ss& dice) {
  shared_mutex lock;
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<bool> good{true};
  task_group group;
  const std::uint64_t tasks = 2 + dice.below(40);
  for (std::uint64_t t = 0; t < tasks; ++t)
    group.run([&, seed = dice()] {
      xoshiro256ss mine(seed);
      for (int i = 0; i < 50; ++i) {
        const bool shared = mine.below(3) != 0;
        bool held = true;
        const microseconds limit(static_cast<int>(mine.below(60)));
        switch (mine.below(3)) {
          case 0: held = shared ? lock.try_lock_shared_for(limit) : lock.try_lock_for(limit); break;
          case 1: held = shared ? lock.try_lock_shared() : lock.try_lock(); break;
          default: shared ? lock.lock_shared() : lock.lock();
        }
        if (!held) continue;
        ++(shared ? readers : writers);
        if (writers != (shared ? 0 : 1) || (!shared && readers != 0)) good = false;
        if (mine.below(3) == 0) sleep_for(microseconds(static_cast<int>(mine.below(20))));
        --(shared ? readers : writers);
        shared ? lock.unlock_shared() : lock.unlock();
      }
    });
  group.wait();
  return good && lock.try_lock() && (lock.unlock(), true);
}

// Each release of a semaphore is acquired once; a mutex guards a plain number.
bool count(xoshiro256ss& dice) {
  semaphore places(0);
  mutex guard;
  std::uint64_t under_guard = 0;
  std::atomic<std::uint64_t> locked{0};
  std::atomic<std::int64_t> acquired{0};
  task_group group;
  const std::uint64_t tasks = 2 + dice.below(40);
  for (std::uint64_t t = 0; t < tasks; ++t)
    group.run([&, seed = dice()] {
      xoshiro256ss mine(seed);
      for (int i = 0; i < 30; ++i) {
        const microseconds limit(static_cast<int>(mine.below(60)));
        if (mine.below(2) == 0) places.release();
        if (mine.below(2) == 0 && places.try_acquire_for(limit)) ++acquired;
        if (mine.below(2) == 0 ? guard.try_lock_for(limit) : (guard.lock(), true)) {
          const std::uint64_t seen = under_guard;
          if (mine.below(4) == 0) yield();
          under_guard = seen + 1;
          ++locked;
          guard.unlock();
        }
        if (mine.below(8) == 0) blocking([] {});
        places.release();
        --acquired;
        if (mine.below(2) == 0) sleep_for(limit);
      }
    });
  while (!group.wait_for(microseconds(static_cast<int>(dice.below(200))))) {
  }
  return under_guard == locked;
}

coroutine<std::uint64_t> chain(std::uint64_t n, std::uint64_t seed) {
  std::uint64_t sum = co_await async([n, seed] {
    if (seed % 3 == 0) sleep_for(microseconds(static_cast<int>(seed % 50)));
    return n;
  });
  if (n > 1) sum += co_await chain(n - 1, splitmix64::at(seed, n));
  co_return sum;
}

// Futures raced by when_any, limits and coroutines.
bool race(xoshiro256ss& dice) {
  std::vector<future<std::uint64_t>> futures;
  std::uint64_t expected = 0;
  const std::uint64_t n = 1 + dice.below(12);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t length = 1 + dice.below(6);
    expected += length * (length + 1) / 2;
    futures.push_back(async(chain(length, dice())));
  }
  std::uint64_t sum = 0;
  while (!futures.empty()) {
    auto any = when_any(std::move(futures));
    while (!any.wait_for(microseconds(static_cast<int>(dice.below(40))))) {
    }
    auto first = any.get();
    futures = std::move(first.futures);
    sum += futures[first.index].get();
    futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(first.index));
  }
  return sum == expected;
}

// Trees of groups, loops and futures in scopes that a time limit, a task or an outer scope stops. What has begun has ended
// when the waits return.
void grow(std::uint64_t seed, int depth, std::atomic<std::int64_t>& open, stop_scope& scope) {
  ++open;
  xoshiro256ss mine(seed);
  if (depth > 0 && !stop_requested()) {
    stop_scope inner(microseconds(static_cast<int>(mine.below(400))));
    task_group plain;
    task_group stops(in_scope);
    task_group& group = mine.below(2) == 0 ? plain : stops;
    const auto body = [&] {
      for (std::uint64_t i = 0; i < 3; ++i) group.run([&, child = mine()] { grow(child, depth - 1, open, scope); });
      parallel_for(
          4, [&, child = mine()](std::uint64_t i) { grow(child + i, depth - 2, open, scope); }, in_scope);
      auto other = async([&, child = mine()] { grow(child, depth - 1, open, scope); });
      if (mine.below(20) == 0) scope.request_stop();
      if (mine.below(3) == 0) sleep_for(microseconds(static_cast<int>(mine.below(100))));
      other.get();
      group.wait();
    };
    mine.below(2) == 0 ? inner.run(body) : body();
  }
  --open;
}

bool stop(xoshiro256ss& dice) {
  std::atomic<std::int64_t> open{0};
  stop_scope scope(microseconds(static_cast<int>(dice.below(3000))));
  scope.run([&] { grow(dice(), 5, open, scope); });
  return open == 0;
}

TEST(timed_waits, readers_and_writers) {
  stress::play_rounds([](std::uint64_t seed) { EXPECT_TRUE(on_pool(seed, share)); });
}
TEST(timed_waits, semaphores_mutexes_groups_and_blocking_calls) {
  stress::play_rounds([](std::uint64_t seed) { EXPECT_TRUE(on_pool(seed, count)); });
}
TEST(timed_waits, futures_and_coroutines) {
  stress::play_rounds([](std::uint64_t seed) { EXPECT_TRUE(on_pool(seed, race)); });
}
TEST(timed_waits, scopes) {
  stress::play_rounds([](std::uint64_t seed) { EXPECT_TRUE(on_pool(seed, stop)); });
}

}  // namespace
}  // namespace shoal::sched
