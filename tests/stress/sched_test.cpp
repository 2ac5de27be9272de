// SPDX-License-Identifier: Apache-2.0
// Random mixtures of everything tasks do: spawn, group and future waits, yields, mutexes, latches, nested loops, wakes
// from other workers, exceptions; with 1 to 6 workers. Every task adds what it must to a sum that is known beforehand;
// a lost wake-up is a test that does not end. How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>

#include "sched/pool.hpp"
#include "shoal/detail/loop_space.hpp"
#include "shoal/future.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

struct shared_state {
  std::atomic<std::uint64_t> sum{0};  // what all tasks have done
  mutex locks[3];
  std::uint64_t guarded[3] = {};  // under the lock of the same number
  semaphore tokens{2};
};

template <class F>
void run_chunks(const void* body, detail::loop_frame& frame) {
  while (detail::next_chunk(frame)) detail::each_position<false>(frame, *static_cast<const F*>(body));
}

template <class F>
void loop_here(std::uint64_t n, std::uint64_t grain, const F& body) {
  detail::local_loop loop;
  loop.body = &body;
  loop.piece = run_chunks<F>;
  loop.grain = grain;
  detail::run_loop_here(loop, 0, n);
}

// Does one random thing, and returns how much it has added in all, children included. The same seed does the same.
std::uint64_t act(shared_state& s, std::uint64_t seed, unsigned depth) {
  xoshiro256ss random(seed);
  std::uint64_t added = 1;
  s.sum.fetch_add(1, std::memory_order_relaxed);
  const auto child = [&](std::uint64_t i) { return act(s, splitmix64::at(seed, i), depth - 1); };
  const std::uint64_t what = random.below(depth == 0 ? 4 : 11);
  switch (what) {
    case 0:
      for (std::uint64_t i = random.below(4); i > 0; --i) yield();
      break;
    case 1: {
      const std::uint64_t l = random.below(3);
      const bool waits = random.below(2) == 0;
      const std::lock_guard hold(s.locks[l]);
      const std::uint64_t seen = s.guarded[l];
      if (waits) yield();
      s.guarded[l] = seen + 1;
      break;
    }
    case 2:
      s.tokens.acquire();
      yield();
      s.tokens.release();
      break;
    case 3: poll(); break;
    case 4:
    case 5: {
      task_group group;
      std::atomic<std::uint64_t> below{0};
      for (std::uint64_t i = random.below(6); i > 0; --i)
        group.run([&, i] { below.fetch_add(child(i), std::memory_order_relaxed); });
      if (random.below(2) == 0) yield();
      group.wait();
      added += below.load();
      break;
    }
    case 6: {
      std::uint64_t left = 0;
      std::uint64_t right = 0;
      parallel_invoke([&] { left = child(1); }, [&] { right = child(2); });
      added += left + right;
      break;
    }
    case 7: {
      std::atomic<std::uint64_t> below{0};
      loop_here(random.below(12), 1 + random.below(4),
                [&](std::uint64_t i) { below.fetch_add(child(i), std::memory_order_relaxed); });
      added += below.load();
      break;
    }
    case 8: {
      auto one = async([&] { return child(1); });
      auto two = async([&] { return child(2); });
      added += one.get() + two.get();
      break;
    }
    case 9: {
      // A tree of tasks of one group, each of which begins the next ones.
      task_group group;
      std::atomic<std::uint64_t> below{0};
      const std::function<void(std::uint64_t, unsigned)> grow = [&](std::uint64_t node, unsigned height) {
        if (node % 3 == 0) below.fetch_add(child(node), std::memory_order_relaxed);
        if (height == 0) return;
        for (const std::uint64_t next : {2 * node, 2 * node + 1})
          group.run([&, next, height] { grow(next, height - 1); });
      };
      grow(1, static_cast<unsigned>(random.below(4)));
      group.wait();
      added += below.load();
      break;
    }
    default: {
      // A meeting of tasks on whichever workers, and an exception on the way out.
      constexpr std::uint64_t k_met = 3;
      latch met(k_met);
      task_group group;
      for (std::uint64_t i = 0; i < k_met; ++i)
        group.run([&, i] {
          met.arrive_and_wait();
          if (i == 1) throw std::runtime_error("expected");
        });
      try {
        group.wait();
        ADD_FAILURE() << "the exception was lost";
      } catch (const std::runtime_error&) {
        yield();  // with the exception in flight
      }
    }
  }
  return added;
}

TEST(sched_stress, mixtures_of_everything_add_up) {
  std::uint64_t tasks = 0;
  stress::play_rounds([&](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(6));
    options.most_stacks = std::size_t{1} << 14;
    options.spin_rounds = static_cast<unsigned>(random.below(50));
    pool p(options);
    shared_state s;
    std::uint64_t expected = 0;
    p.run([&] {
      for (std::uint64_t i = 0; i < 40; ++i) expected += act(s, splitmix64::at(seed, i), 4);
    });
    ASSERT_EQ(s.sum.load(), expected);
    for (unsigned i = 0; i < p.size(); ++i) ASSERT_EQ(p.at(i).stacks_in_use(), 0U) << "worker " << i;
    tasks += expected;
  });
  std::cout << tasks << " steps\n";
}

}  // namespace
}  // namespace shoal::sched
