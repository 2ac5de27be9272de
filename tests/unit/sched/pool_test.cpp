// SPDX-License-Identifier: Apache-2.0
#include "sched/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

TEST(pool, runs_the_main_task_on_the_calling_thread) {
  for (const unsigned workers : {1U, 3U}) {
    const auto here = std::this_thread::get_id();
    bool same = false;
    run_pool(workers, [&] {
      same = std::this_thread::get_id() == here;
      yield();
      same = same && std::this_thread::get_id() == here;
    });
    EXPECT_TRUE(same);
    EXPECT_EQ(detail::t_worker, nullptr);
  }
}

TEST(pool, starts_and_stops_many_times) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i)
    run_pool(4, [&ran] {
      task_group group;
      for (int k = 0; k < 8; ++k) group.run([&ran] { ran.fetch_add(1); });
      group.wait();
    });
  EXPECT_EQ(ran.load(), 400);
}

TEST(pool, several_live_in_one_process) {
  std::vector<std::thread> hosts;
  std::atomic<int> right{0};
  for (int i = 0; i < 3; ++i)
    hosts.emplace_back([i, &right] {
      run_pool(2, [i, &right] {
        task_group group;
        std::atomic<int> sum{0};
        for (int k = 0; k < 1000; ++k) group.run([&sum, i] { yield(), sum.fetch_add(i); });
        group.wait();
        if (sum.load() == 1000 * i) right.fetch_add(1);
      });
    });
  for (auto& h : hosts) h.join();
  EXPECT_EQ(right.load(), 3);
}

TEST(pool, two_long_tasks_take_two_sleeping_workers) {
  run_pool(3, [] {
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the others park
      // Each waits for the other without giving its worker up: ends only if two sleepers were woken.
      std::atomic<int> here{0};
      std::atomic<bool> late{false};
      task_group group;
      for (int i = 0; i < 2; ++i)
        group.run([&] {
          here.fetch_add(1);
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (here.load() < 2 && !late.load()) {
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() > end) late.store(true);
          }
        });
      // The main task computes: nobody but the sleepers can run them.
      while (here.load() < 2 && !late.load()) std::this_thread::yield();
      EXPECT_FALSE(late.load()) << "a second sleeping worker was not woken";
      group.wait();
      if (late.load()) return;
    }
  });
}

// More tasks wait than there are stacks: what has not begun must wait until one goes on, and the pool says so.
TEST(pool, with_too_few_stacks_warns_and_completes) {
  pool_options options;
  options.workers = 1;
  options.most_stacks = 64;
  pool p(options);
  constexpr int k_tasks = 200;
  std::atomic<int> waiting{0};
  std::atomic<int> ended{0};
  testing::internal::CaptureStderr();
  p.run([&] {
    // Woken by a thread that is no worker, one by one.
    std::atomic<bool> all_ended{false};
    std::vector<std::atomic<detail::suspended*>> waiters(k_tasks);
    std::thread waker([&] {
      for (int before = -1; !all_ended.load();) {
        // Only once nothing more begins: then the stacks are used up.
        if (const int now = waiting.load(); now != before) {
          before = now;
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          continue;
        }
        for (auto& w : waiters)
          if (detail::suspended* s = w.exchange(nullptr); s != nullptr) detail::wake(s);
      }
    });
    task_group group;
    for (auto& w : waiters)
      group.run([&w, &waiting, &ended] {
        waiting.fetch_add(1);
        w.store(detail::this_task());
        detail::leave();
        ended.fetch_add(1);
      });
    group.wait();
    all_ended.store(true);
    waker.join();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(waiting.load(), k_tasks);
  EXPECT_EQ(ended.load(), k_tasks);
  EXPECT_NE(said.find("no stack left"), std::string::npos) << said;
  EXPECT_NE(said.find("SHOAL_STACKS"), std::string::npos) << said;
  EXPECT_EQ(said.find("no stack left"), said.rfind("no stack left")) << "once is enough";
}

}  // namespace
}  // namespace shoal::sched
