// SPDX-License-Identifier: Apache-2.0
// Workers that begin no tasks: pool::set_active().
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "machine/futex.hpp"
#include "sched/pool.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/partition.hpp"
#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

constexpr unsigned k_all = 4;

unsigned here() { return this_worker()->index; }

// Returns when each worker has begun a task: none ends before.
void meet_on_all() {
  std::atomic<unsigned> begun{0};
  task_group group;
  for (unsigned i = 0; i < k_all; ++i)
    group.run([&begun] {
      ++begun;
      while (begun < k_all) std::this_thread::yield();  // not a task's wait: each needs a worker of its own
    });
  group.wait();
}

TEST(inactive_workers, tasks_begin_on_active_workers_only) {
  run_pool(k_all, [] {
    pool& p = this_worker()->owner();
    for (int round = 0; round < rounds(20, 5); ++round) {
      p.set_active(k_all);
      meet_on_all();
      const unsigned active = round % 2 == 0 ? 1 : 2;
      p.set_active(active);
      EXPECT_EQ(p.active(), active);
      // Whoever was about to begin one when the number changed may do so: these make it look again.
      for (unsigned i = active; i < k_all; ++i) {
        std::atomic<bool> seen{false};
        struct look final : errand {
          std::atomic<bool>* seen = nullptr;
        } one;
        one.seen = &seen;
        one.run = [](detail::task& t) noexcept { *static_cast<look&>(t).seen = true; };
        p.at(i).give_errand(one);
        while (!seen) shoal::yield();
      }
      shoal::sleep_for(std::chrono::milliseconds(1));
      std::array<std::atomic<int>, k_all> begun{};
      task_group group;
      for (int i = 0; i < 300; ++i)
        group.run([&begun] {
          ++begun[here()];
          std::this_thread::sleep_for(std::chrono::microseconds(10));
        });
      group.wait();
      parallel_for(0, 10'000, [&begun](std::size_t) { ++begun[here()]; });
      int sum = 0;
      for (unsigned w = 0; w < k_all; ++w) {
        if (w >= active) {
          EXPECT_EQ(begun[w], 0) << w << " of " << active;
        }
        sum += begun[w];
      }
      EXPECT_EQ(sum, 10'300);
    }
    p.set_active(k_all);
  });
}

TEST(inactive_workers, begun_and_placed_tasks_go_on) {
  run_pool(k_all, [] {
    pool& p = this_worker()->owner();
    std::array<std::atomic<int>, k_all> continued{};
    std::atomic<unsigned> begun{0};
    latch sign(1);
    task_group group;
    for (unsigned i = 0; i < k_all; ++i)
      group.run([&] {
        ++begun;
        while (begun < k_all) std::this_thread::yield();
        sign.wait();
        task_group own;  // children that nobody steals
        for (int c = 0; c < 10; ++c) own.run([] {});
        own.wait();
        ++continued[here()];
      });
    while (begun < k_all) shoal::yield();
    p.set_active(1);
    sign.count_down();
    group.wait();
    for (unsigned w = 0; w < k_all; ++w) EXPECT_EQ(continued[w], 1) << w;
    std::array<std::atomic<int>, k_all> ran{};
    parallel_for(
        0, 100, [&ran](std::size_t) { ++ran[here()]; }, shoal::static_partitioner());
    for (unsigned w = 0; w < k_all; ++w) EXPECT_EQ(ran[w], 25) << w;
    p.set_active(k_all);
    meet_on_all();
  });
}

TEST(inactive_workers, an_errand_wakes_a_task_there) {
  run_pool(2, [] {
    pool& p = this_worker()->owner();
    for (int round = 0; round < rounds(200, 20); ++round) {
      p.set_active(2);
      std::atomic<worker*> at{nullptr};
      latch gate(1);
      task_group group;
      group.run([&] {
        at = this_worker();
        if (this_worker()->index == 1) gate.wait();
      });
      while (at == nullptr) std::this_thread::yield();  // not a task's wait: the other worker begins it
      p.set_active(1);
      if (round % 2 == 0) shoal::sleep_for(std::chrono::microseconds(300));  // worker 1 sleeps
      struct opening final : errand {
        latch* gate = nullptr;
      } one;
      one.gate = &gate;
      one.run = [](detail::task& t) noexcept { static_cast<opening&>(t).gate->count_down(); };
      p.at(1).give_errand(one);
      group.wait();
    }
    p.set_active(2);
  });
}

TEST(inactive_workers, a_loop_gives_up_the_rest_of_its_range) {
  run_pool(2, [] {
    pool& p = this_worker()->owner();
    std::atomic<int> late{0};
    std::atomic<bool> reduced{false};
    constexpr std::size_t k_size = 4000;
    std::atomic<std::size_t> done{0};
    parallel_for(0, k_size, [&](std::size_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (here() == 1 && done > k_size / 4 && !reduced.exchange(true)) p.set_active(1);
      if (here() == 1 && reduced) ++late;
      ++done;
    });
    EXPECT_EQ(done, k_size);
    if (reduced) {
      EXPECT_LT(late, 1000);  // of about 1500 that it would have run: the rest of its chunk
    }
    p.set_active(2);
  });
}

TEST(inactive_workers, changes_while_all_works_lose_nothing) {
  run_pool(k_all, [] {
    pool& p = this_worker()->owner();
    std::atomic<bool> over{false};
    task_group changes;
    changes.run([&] {
      for (unsigned n = 0; !over; n = n * 5 + 1) {
        p.set_active(n % k_all + 1);
        shoal::yield();
      }
    });
    for (int round = 0; round < rounds(300, 30); ++round) {
      std::atomic<int> sum{0};
      task_group group;
      for (int i = 0; i < 100; ++i)
        group.run([&sum, i] {
          if (i % 7 == 0) shoal::yield();
          if (i % 31 == 0) shoal::sleep_for(std::chrono::microseconds(20));
          ++sum;
        });
      parallel_for(0, 100, [&sum](std::size_t) { ++sum; });
      group.wait();
      ASSERT_EQ(sum, 200);
    }
    over = true;
    changes.wait();
    p.set_active(k_all);
    meet_on_all();
  });
}

}  // namespace
}  // namespace shoal::sched
