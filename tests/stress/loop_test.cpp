// SPDX-License-Identifier: Apache-2.0
// Random nests of loops with all partitioners, ranges and kinds of bodies, which wait, throw, stop and are stopped,
// from several tasks at once, with 1 to 6 workers. Each loop knows how many points its body must see. How long, and
// with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/loop.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

struct shared_state {
  std::atomic<std::uint64_t> loops{0};
  std::atomic<std::uint64_t> wrong{0};
  mutex lock;
};

std::uint64_t nest(shared_state& s, std::uint64_t seed, unsigned depth);

// What an iteration does: waits in some way, or begins loops of its own. Gives what it has counted.
std::uint64_t act(shared_state& s, std::uint64_t seed, unsigned depth) {
  xoshiro256ss random(seed);
  switch (random.below(12)) {
    case 0: yield(); return 1;
    case 1: {
      const std::lock_guard hold(s.lock);
      yield();
      return 1;
    }
    case 2: return depth == 0 ? 1 : 1 + nest(s, splitmix64::at(seed, 1), depth - 1);
    case 3: {
      if (depth == 0) return 1;
      std::uint64_t other = 0;
      std::uint64_t mine = 0;
      parallel_invoke([&] { mine = nest(s, splitmix64::at(seed, 2), depth - 1); },
                      [&] { other = nest(s, splitmix64::at(seed, 3), 0); });
      return 1 + mine + other;
    }
    default: return 1;
  }
}

// Calls loop(partitioner) with a random one, several times with one that remembers.
template <class Loop>
void with_partitioner(xoshiro256ss& random, const Loop& loop) {
  switch (random.below(4)) {
    case 0: return loop(auto_partitioner{});
    case 1: return loop(simple_partitioner{1 + random.below(20)});
    case 2: return loop(static_partitioner{});
    default: {
      affinity_partitioner kept(1 + static_cast<unsigned>(random.below(5)));
      for (std::uint64_t sweeps = 1 + random.below(3); sweeps > 0; --sweeps) loop(kept);
    }
  }
}

// A random loop; gives how much its iterations have counted, by a sum and by a reduction.
std::uint64_t nest(shared_state& s, std::uint64_t seed, unsigned depth) {
  xoshiro256ss random(seed);
  s.loops.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t n = random.below(depth == 0 ? 100 : 20);
  const auto counted = [&](std::uint64_t i) { return act(s, splitmix64::at(seed, 10 + i), depth); };
  const auto expect = [&](bool right) {
    if (!right) s.wrong.fetch_add(1);
  };
  std::uint64_t first = UINT64_MAX;  // of several sweeps all count the same
  const auto same = [&](std::uint64_t sum) {
    expect(first == UINT64_MAX || first == sum);
    first = sum;
  };
  const std::uint64_t kind = random.below(6);
  with_partitioner(random, [&](auto&& partitioner) {
    std::atomic<std::uint64_t> sum{0};
    switch (kind) {
      case 0:
        parallel_for(
            0, n, [&](std::uint64_t i) { sum.fetch_add(counted(i)); }, partitioner);
        break;
      case 1:
        parallel_for(
            range2d(0, n, 5, 8), [&](std::uint64_t i, std::uint64_t j) { sum.fetch_add(counted(3 * i + j)); },
            partitioner);
        break;
      case 2:
        parallel_for(
            range1d(0, n, 3),
            [&](const range1d& part) {
              for (auto i = part.begin(); i < part.end(); ++i) sum.fetch_add(counted(i));
            },
            partitioner);
        break;
      case 3:
        sum.store(parallel_reduce(0, n, std::uint64_t{0}, counted, std::plus<>(), partitioner));
        expect(sum.load() >= n);
        break;
      case 4: {
        std::atomic<std::uint64_t> begun{0};
        try {
          parallel_for(
              0, n,
              [&](std::uint64_t i) {
                begun.fetch_add(1);
                counted(i);
                if (i % 3 == 1) throw std::runtime_error("expected");
              },
              partitioner);
          expect(n < 2);
        } catch (const std::runtime_error&) {
          expect(n >= 2 && begun.load() <= n);
        }
        break;
      }
      default: {
        std::stop_source source;
        std::atomic<std::uint64_t> begun{0};
        parallel_for(
            0, n,
            [&](std::uint64_t i) {
              if (begun.fetch_add(1) == n / 2) source.request_stop();
              counted(i);
            },
            partitioner, source.get_token());
        expect(begun.load() >= n / 2 && begun.load() <= n);
        break;
      }
    }
    same(sum.load());
  });
  return first;
}

TEST(loop_stress, nests_of_loops_count_each_iteration) {
  std::uint64_t loops = 0;
  stress::play_rounds([&](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(6));
    options.most_stacks = std::size_t{1} << 14;
    options.spin_rounds = static_cast<unsigned>(random.below(50));
    pool p(options);
    shared_state s;
    p.run([&] {
      task_group group;
      std::vector<std::uint64_t> together(4);
      for (std::uint64_t i = 0; i < 4; ++i) group.run([&, i] { together[i] = nest(s, splitmix64::at(seed, i), 2); });
      group.wait();
      // Alone they count the same.
      for (std::uint64_t i = 0; i < 4; ++i)
        if (nest(s, splitmix64::at(seed, i), 2) != together[i]) s.wrong.fetch_add(1);
    });
    ASSERT_EQ(s.wrong.load(), 0U);
    for (unsigned i = 0; i < p.size(); ++i) ASSERT_EQ(p.at(i).stacks_in_use(), 0U) << "worker " << i;
    loops += s.loops.load();
  });
  std::cout << loops << " loops\n";
}

// Sweeps with affinity from a task whose siblings are busy with short and long things, so that summonses come late, and
// tasks placed on all workers from all workers.
TEST(loop_stress, affinity_and_placed_tasks_among_busy_workers) {
  struct counted final : placed_task {
    std::atomic<int>* wrong = nullptr;
    latch* done = nullptr;
    unsigned wanted = 0;
  };
  pool_options options;
  options.workers = 4;
  options.most_stacks = std::size_t{1} << 14;
  pool p(options);
  std::atomic<int> wrong{0};
  p.run([&] {
    task_group group;
    for (unsigned t = 0; t < 6; ++t)
      group.run([&, t] {
        xoshiro256ss random(t);
        affinity_partitioner kept(3);
        for (int round = 0; round < 60; ++round) {
          if (t % 2 == 0) {
            std::vector<int> seen(100);
            for (int sweep = 0; sweep < 3; ++sweep)
              parallel_for(
                  0, 100,
                  [&](std::size_t i) {
                    if (i % 40 == 7) yield();
                    ++seen[i];
                  },
                  kept);
            for (const int c : seen)
              if (c != 3) wrong.fetch_add(1);
            continue;
          }
          std::vector<counted> tasks(8);
          latch done(8);
          for (auto& c : tasks) {
            c.wrong = &wrong;
            c.done = &done;
            c.wanted = static_cast<unsigned>(random.below(4));
            c.run = [](detail::task& raw) noexcept {
              auto& self = static_cast<counted&>(static_cast<placed_task&>(raw));
              if (self.wanted % 2 == 0) yield();
              if (detail::t_worker->index != self.wanted) self.wrong->fetch_add(1);
              self.done->count_down();
            };
            this_worker()->owner().at(c.wanted).place(c);
          }
          done.wait();
        }
      });
    group.wait();
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace shoal::sched
