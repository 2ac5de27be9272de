// SPDX-License-Identifier: Apache-2.0
// Where iterations run: shares of static loops, blocks that come back to where they ran, blocks of a busy worker.
#include "shoal/partition.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

constexpr unsigned k_nobody = 1000;
unsigned here() { return detail::t_worker->index; }

TEST(partition, static_gives_equal_contiguous_shares_to_the_workers_in_order) {
  for (const unsigned workers : {1U, 2U, 3U, 4U})
    run_pool(workers, [workers] {
      for (const std::uint64_t n : {1U, 2U, 10U, 1001U}) {
        std::vector<unsigned> ran(n, k_nobody);
        parallel_for(
            0, n,
            [&](std::uint64_t i) {
              if (i % 5 == 1) yield();  // what follows stays on the worker as well
              ran[i] = here();
            },
            static_partitioner{});
        for (std::uint64_t i = 0; i < n; ++i) {
          ASSERT_GE(i, n * ran[i] / workers) << n;
          ASSERT_LT(i, n * (ran[i] + 1) / workers) << n;
        }
        std::atomic<unsigned> parts{0};
        parallel_for(
            0, n,
            [&](const range1d& part) {
              parts.fetch_add(1);
              EXPECT_EQ(part, range1d(n * here() / workers, n * (here() + 1) / workers));
            },
            static_partitioner{});
        EXPECT_EQ(parts.load(), std::min<std::uint64_t>(n, workers));
      }
    });
}

TEST(partition, static_is_independent_of_the_worker_that_begins_the_loop) {
  run_pool(3, [] {
    parallel_for(
        0, 3,
        [](unsigned outer) {
          EXPECT_EQ(here(), outer);
          std::vector<unsigned> ran(9, k_nobody);
          parallel_for(
              0, 9, [&](int i) { ran[static_cast<unsigned>(i)] = here(); }, static_partitioner{});
          EXPECT_EQ(ran, (std::vector<unsigned>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
        },
        static_partitioner{});
  });
}

TEST(partition, static_cuts_boxes_along_the_longest_side) {
  run_pool(2, [] {
    parallel_for(
        range2d(0, 10, 0, 40),
        [](const range2d& t) { EXPECT_EQ(t, here() == 0 ? range2d(0, 10, 0, 20) : range2d(0, 10, 20, 40)); },
        static_partitioner{});
    std::vector<unsigned> ran(400, k_nobody);
    parallel_for(
        range2d(0, 10, 0, 40),
        [&](std::uint64_t i, std::uint64_t j) {
          if ((i + j) % 7 == 0) yield();
          ran[i * 40 + j] = here();
        },
        static_partitioner{});
    for (std::uint64_t p = 0; p < 400; ++p) ASSERT_EQ(ran[p], p % 40 / 20);
  });
}

// With one block for each worker, and each block waiting until all have begun, nobody can take two: every sweep is
// forced to have one block per worker, and affinity to have the same one each time.
TEST(partition, affinity_replays_the_last_sweep) {
  for (const unsigned workers : {1U, 2U, 4U})
    run_pool(workers, [workers] {
      affinity_partitioner kept(1);
      std::vector<unsigned> first(workers, k_nobody);
      for (int sweep = 0; sweep < 200; ++sweep) {
        std::vector<unsigned> ran(workers, k_nobody);
        std::atomic<unsigned> begun{0};
        parallel_for(
            0, workers,
            [&](unsigned i) {
              begun.fetch_add(1);
              while (begun.load() < workers) std::this_thread::yield();  // the worker stays here
              ran[i] = here();
            },
            kept);
        if (sweep == 0) first = ran;
        if (workers == 1) {
          ASSERT_EQ(ran[0], 0U);
        }
        std::vector<unsigned> sorted = ran;
        std::ranges::sort(sorted);
        for (unsigned i = 0; i < workers; ++i) ASSERT_EQ(sorted[i], i);
        ASSERT_EQ(ran, first) << sweep;
      }
    });
}

// Tasks that the loop began on other workers, and for which nobody waits, leave nothing behind.
TEST(partition, the_pool_may_end_right_after_a_loop_with_affinity) {
  for (int round = 0; round < 300; ++round)
    run_pool(3, [] {
      affinity_partitioner kept(1);
      parallel_for(
          0, 12,
          [](int) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
            while (std::chrono::steady_clock::now() < end) continue;
          },
          kept);
    });
}

// One worker takes blocks of another that is busy; they are its own from then on.
TEST(partition, affinity_remembers_who_took_a_block) {
  run_pool(2, [] {
    affinity_partitioner kept(4);
    std::vector<unsigned> ran(8, k_nobody);
    const auto body = [&](unsigned i) { ran[i] = here(); };
    std::atomic<bool> busy{false};
    std::atomic<bool> release{false};
    task_group group;
    // Worker 1, and nobody else, is kept busy: not able to hear of the loop.
    struct occupant final : placed_task {
      std::atomic<bool>* busy;
      std::atomic<bool>* release;
      std::atomic<bool> over{false};
    } occupant;
    occupant.busy = &busy;
    occupant.release = &release;
    occupant.run = [](detail::task& t) noexcept {
      auto& self = static_cast<struct occupant&>(static_cast<placed_task&>(t));
      self.busy->store(true);
      while (!self.release->load()) std::this_thread::yield();
      self.over.store(true);
    };
    this_worker()->owner().at(1).place(occupant);
    while (!busy.load()) std::this_thread::yield();
    for (int sweep = 0; sweep < 3; ++sweep) {
      std::ranges::fill(ran, k_nobody);
      parallel_for(0, 8, body, kept);  // ends although worker 1 hears nothing
      EXPECT_EQ(ran, std::vector<unsigned>(8, 0));
    }
    release.store(true);
    while (!occupant.over.load()) std::this_thread::yield();
    // All blocks are worker 0's now: it may lose some to worker 1 again, from the back only.
    parallel_for(0, 8, body, kept);
    EXPECT_TRUE(std::ranges::is_sorted(ran));
  });
}

// The partitioner goes while a busy worker has not heard of its loops, and the pool ends as well.
TEST(partition, affinity_summons_that_come_late_do_no_harm) {
  for (int round = 0; round < 30; ++round)
    run_pool(2, [] {
      std::atomic<bool> busy{false};
      std::atomic<bool> release{false};
      task_group group;
      group.run([&] {
        busy.store(true);
        while (!release.load()) std::this_thread::yield();
      });
      while (!busy.load()) std::this_thread::yield();  // worker 1 has it: this task does not wait for it
      for (int loops = 0; loops < 3; ++loops) {
        affinity_partitioner kept;
        std::atomic<int> ran{0};
        for (int sweep = 0; sweep < 2; ++sweep)
          parallel_for(
              0, 100, [&](int) { ran.fetch_add(1); }, kept);
        EXPECT_EQ(ran.load(), 200);
      }
      release.store(true);
      group.wait();
    });
}

TEST(partition, affinity_serves_ranges_of_changing_size) {
  run_pool(3, [] {
    affinity_partitioner kept;
    for (const int n : {1000, 10, 3, 500, 1000}) {
      std::vector<std::atomic<int>> ran(static_cast<std::size_t>(n));
      parallel_for(
          0, n, [&](int i) { ran[static_cast<std::size_t>(i)].fetch_add(1); }, kept);
      for (auto& r : ran) ASSERT_EQ(r.load(), 1);
    }
  });
}

TEST(partition_death, an_affinity_partitioner_serves_one_loop_at_a_time) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_pool(1,
                        [] {
                          affinity_partitioner kept;
                          parallel_for(
                              0, 2,
                              [&](int) {
                                parallel_for(
                                    0, 2, [](int) {}, kept);
                              },
                              kept);
                        }),
               "two loops at once");
}

// The inner loop has fewer blocks, so that it would take a new map in the place of the one in use.
TEST(partition_death, an_affinity_partitioner_serves_one_loop_at_a_time_whatever_their_sizes) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto inner = [](affinity_partitioner& kept) {
    parallel_for(
        0, 2, [](int) {}, kept);
  };
  EXPECT_DEATH(run_pool(1,
                        [&inner] {
                          affinity_partitioner kept;
                          parallel_for(
                              0, 100, [&](int) { inner(kept); }, kept);
                        }),
               "two loops at once");
}

}  // namespace
}  // namespace shoal::sched
