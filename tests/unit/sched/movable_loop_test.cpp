// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "shoal/movable.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/moves.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

using movable_loops = sched::on_workers;
INSTANTIATE_TEST_SUITE_P(workers, movable_loops, sched::one_two_or_four_workers(), sched::name_of_workers);

#if defined(__x86_64__)
// The main task keeps its worker busy until all iterations have ended, so the other worker runs those that began there.
TEST(movable_loop, iterations_continue_on_an_idle_worker_while_their_own_is_busy) {
  sched::run_pool(2, [] {
    constexpr int k_iterations = 200;
    std::atomic<int> moved{0};
    for (int round = 0; round < 1000 && moved.load() == 0; ++round) {
      latch open(1);
      std::atomic<int> started{0}, ended{0};
      task_group group;
      group.run([&] {
        parallel_for(
            k_iterations,
            [&](int) {
              const unsigned before = sched::worker_index();
              ++started;
              open.wait();
              if (sched::worker_index() != before) ++moved;
              ++ended;
            },
            movable);
      });
      sched::await(started, k_iterations);
      open.count_down();
      while (ended.load() < k_iterations) std::this_thread::yield();
      group.wait();
    }
    EXPECT_GT(moved.load(), 0);
  });
}
#endif

TEST_P(movable_loops, run_each_iteration_once_with_any_partitioner) {
  run([] {
    affinity_partitioner kept;
    const auto check = [](auto&&... options) {
      std::vector<std::atomic<int>> seen(1000);
      semaphore some(3);
      parallel_for(
          seen.size(),
          [&](std::size_t i) {
            some.acquire();
            ++seen[i];
            some.release();
          },
          options...);
      for (const auto& n : seen) EXPECT_EQ(n.load(), 1);
    };
    check(movable);
    check(simple_partitioner{7}, movable);
    check(movable, static_partitioner{});
    check(movable, kept);
    check(kept, movable);
  });
}

TEST_P(movable_loops, go_through_boxes_and_parts) {
  run([] {
    std::atomic<int> points{0};
    semaphore some(1);
    parallel_for(
        range2d(range1d(0, 31), range1d(0, 17)),
        [&](std::uint64_t, std::uint64_t) {
          some.acquire();
          ++points;
          some.release();
        },
        movable);
    EXPECT_EQ(points.load(), 31 * 17);
    std::atomic<std::uint64_t> in_parts{0};
    parallel_for(
        range1d(0, 5000),
        [&](const range1d& part) {
          some.acquire();
          in_parts += part.size();
          some.release();
        },
        movable);
    EXPECT_EQ(in_parts.load(), 5000U);
  });
}

// Those before wait for those behind, at waits where they may move and at waits where they stay.
TEST_P(movable_loops, an_iteration_that_waits_delays_no_other) {
  run([] {
    constexpr int k_iterations = 300;
    std::vector<std::unique_ptr<latch>> done;
    for (int i = 0; i < k_iterations; ++i) done.push_back(std::make_unique<latch>(1));
    std::atomic<int> ended{0};
    parallel_for(
        k_iterations,
        [&](int i) {
          if (i + 1 < k_iterations) {
            if (i % 2 == 0)
              done[i + 1]->wait();
            else
              while (!done[i + 1]->try_wait()) yield();
          }
          done[i]->count_down();
          ++ended;
        },
        movable);
    EXPECT_EQ(ended.load(), k_iterations);
  });
}

TEST_P(movable_loops, nest) {
  run([] {
    std::atomic<int> ran{0};
    semaphore some(2);
    parallel_for(
        20,
        [&](int) {
          some.acquire();
          some.release();
          const unsigned before = sched::worker_index();
          parallel_for(20, [&](int) {
            yield();
            ++ran;
          });
          EXPECT_EQ(sched::worker_index(), before);
          parallel_for(
              5,
              [&](int) {
                some.acquire();
                ++ran;
                some.release();
              },
              movable);
          some.acquire();
          some.release();
        },
        movable);
    EXPECT_EQ(ran.load(), 20 * 25);
  });
}

TEST_P(movable_loops, throw_the_first_exception_when_all_that_have_begun_have_ended) {
  run([] {
    latch open(1);
    std::atomic<int> inside{0};
    task_group opener;
    opener.run([&] {
      sched::await(inside, 1);
      open.count_down();
    });
    EXPECT_THROW(parallel_for(
                     1000,
                     [&](int i) {
                       ++inside;
                       open.wait();
                       --inside;
                       if (i % 100 == 0) throw std::runtime_error("thrown behind a wait");
                     },
                     movable),
                 std::runtime_error);
    EXPECT_EQ(inside.load(), 0);
    opener.wait();
  });
}

TEST_P(movable_loops, stop_when_asked) {
  run([] {
    std::stop_source source;
    semaphore some(1);
    std::atomic<int> ran{0};
    parallel_for(
        1'000'000,
        [&](int) {
          some.acquire();
          if (++ran == 100) source.request_stop();
          some.release();
        },
        source.get_token(), movable);
    EXPECT_GE(ran.load(), 100);
    EXPECT_LT(ran.load(), 1'000'000);
  });
}

// As many as the setting allows wait at a time, on each worker; the rest of the range waits until they have ended.
TEST_P(movable_loops, bound_how_many_iterations_wait) {
  sched::pool_options options;
  options.workers = GetParam();
  options.most_waiting_bytes = 1;  // the least that is allowed: 16 tasks
  sched::pool p(options);
  constexpr int k_iterations = rounds(5000, 1000);
  std::atomic<int> ended{0}, waiting{0}, most{0};
  p.run([&] {
    semaphore go(0);
    task_group opener;
    opener.run([&] {
      for (int opened = 0; opened < k_iterations; ++opened) {
        while (waiting.load() == 0) yield();
        for (int i = 0; i < 50; ++i) yield();
        go.release();
      }
    });
    parallel_for(
        k_iterations,
        [&](int) {
          const int now = ++waiting;
          for (int known = most.load(); known < now && !most.compare_exchange_weak(known, now);) {
          }
          go.acquire();
          --waiting;
          ++ended;
        },
        movable);
    opener.wait();
  });
  EXPECT_EQ(ended.load(), k_iterations);
  EXPECT_LE(most.load(), static_cast<int>(GetParam()) * 2 * 16 + 16);
  EXPECT_GT(most.load(), 1);
}

// Inner iterations without a stack run on those of outer ones, which have moved.
TEST_P(movable_loops, nest_with_few_stacks) {
  for (const std::size_t stacks : {2U, 4U, 8U, 16U}) {
    sched::pool_options options;
    options.workers = GetParam();
    options.most_stacks = stacks * GetParam();
    sched::pool p(options);
    std::atomic<int> ended{0};
    p.run([&ended] {
      for (int round = 0; round < 20; ++round) {
        mutex turn;
        parallel_for(
            8,
            [&](int) {
              turn.lock();
              yield();
              turn.unlock();
              int inside = 0;
              mutex guard;
              parallel_for(
                  8,
                  [&](int) {
                    const std::lock_guard hold(guard);
                    ++inside;
                  },
                  movable);
              EXPECT_EQ(inside, 8);
              ++ended;
            },
            movable);
      }
    });
    EXPECT_EQ(ended.load(), 160);
  }
}

TEST_P(movable_loops, run_where_they_are_if_no_stack_is_left) {
  sched::pool_options options;
  options.workers = GetParam();
  options.most_stacks = 1;
  sched::pool p(options);
  std::atomic<int> ended{0};
  p.run([&ended] {
    parallel_for(
        100, [&ended](int) { ++ended; }, movable);
  });
  EXPECT_EQ(ended.load(), 100);
}

}  // namespace
}  // namespace shoal
