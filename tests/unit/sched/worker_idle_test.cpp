// SPDX-License-Identifier: Apache-2.0
// Pools that steal by policies: every task runs once, whatever the policy and the machine; who is not reached is
// neither robbed nor woken for nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/random.hpp"
#include "shoal/task.hpp"
#include "unit/rounds.hpp"
#include "unit/sched/scripted_view.hpp"

namespace shoal::sched {
namespace {

struct tally {
  std::vector<std::atomic<int>> ran;
  std::atomic<std::size_t> next{0};
};

// An irregular tree; each task has a number of its own, some wait.
void grow(tally& t, std::uint64_t seed, unsigned depth) {
  t.ran[t.next.fetch_add(1)].fetch_add(1);
  if (seed % 5 == 0) yield();
  if (depth == 0) return;
  task_group group;
  for (std::uint64_t i = 0; i < 1 + seed % 4; ++i)
    group.run([&t, child = splitmix64::at(seed, i), depth] { grow(t, child, depth - 1); });
  group.wait();
}

std::size_t tree_size(std::uint64_t seed, unsigned depth) {
  std::size_t size = 1;
  if (depth == 0) return size;
  for (std::uint64_t i = 0; i < 1 + seed % 4; ++i) size += tree_size(splitmix64::at(seed, i), depth - 1);
  return size;
}

pool_options options_of(const char* policy, const std::string& machine, unsigned workers) {
  pool_options options;
  options.workers = workers;
  options.most_stacks = std::size_t{1} << 14;
  options.steal = find_steal_policy(policy);
  if (!machine.empty()) options.where = machine::topology::synthetic(machine).choose(1, 0, workers).where;
  return options;
}

TEST(stealing, every_task_runs_once_with_each_policy) {
  constexpr unsigned k_depth = 9;
  for (const char* policy : {"random", "sticky", "loaded", "loaded_every", "nearest", "nearest(2,2,1,masters)",
                             "sorted", "sorted(2,policy2,package)"})
    for (const char* machine : {"", "package:2 l3:1 core:2", "package:4 core:1", "core:2 pu:2"}) {
      for (std::uint64_t seed = 11; seed < rounds(14U, 13U); ++seed) {
        const std::size_t size = tree_size(seed, k_depth);
        tally t{std::vector<std::atomic<int>>(size), 0};
        pool p(options_of(policy, machine, 4));
        p.run([&] { grow(t, seed, k_depth); });
        EXPECT_EQ(t.next.load(), size) << policy << " on " << machine;
        for (const auto& count : t.ran) ASSERT_EQ(count.load(), 1) << policy << " on " << machine;
      }
    }
}

// Reaches the main task's worker alone, and only from worker 2.
class from_two_only final : public steal_policy {
public:
  explicit from_two_only(steal_view& view) : able_(view.self() == 2) {}
  unsigned next() noexcept override { return 0; }
  bool reaches(unsigned victim) const noexcept override { return able_ && victim == 0; }

private:
  bool able_;
};

TEST(stealing, those_who_cannot_reach_a_task_are_not_woken_in_the_place_of_one_who_can) {
  pool_options options;
  options.workers = 3;
  options.steal = [](steal_view& view) { return std::make_unique<from_two_only>(view); };
  pool p(options);
  p.run([] {
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the others park
      std::atomic<unsigned> where{0};
      task_group group;
      group.run([&where] { where.store(detail::t_worker->index); });
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      // The main task computes: nobody but worker 2 can run it.
      while (where.load() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_EQ(where.load(), 2U);
      group.wait();
      if (where.load() != 2) return;
    }
  });
  EXPECT_EQ(p.at(1).counts().stolen, 0U);
}

TEST(stealing, a_worker_sleeps_while_only_others_have_work_that_it_does_not_reach) {
  pool_options options;
  options.workers = 2;
  options.steal = [](steal_view& view) { return std::make_unique<from_two_only>(view); };  // there is no worker 2
  pool p(options);
  p.run([&p] {
    std::atomic<int> ran{0};
    task_group group;
    for (int i = 0; i < 10; ++i) group.run([&ran] { ran.fetch_add(1); });
    // Work lies there, and worker 1 sleeps all the same.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!p.at(1).parked() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(p.at(1).parked());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(p.at(1).parked());
    EXPECT_EQ(ran.load(), 0);
    group.wait();
    EXPECT_EQ(ran.load(), 10);
  });
  EXPECT_EQ(p.at(1).counts().stolen, 0U);
  EXPECT_LE(p.at(1).counts().parks, 2U);
}

}  // namespace
}  // namespace shoal::sched
