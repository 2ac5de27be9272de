// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fiber/sanitizer.hpp"
#include "shoal/detail/loop_space.hpp"
#include "shoal/detail/tiling.hpp"
#include "shoal/loop.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

template <class F>
void run_chunks(const void* body, detail::loop_frame& frame) {
  while (detail::next_chunk(frame)) detail::each_position<false>(frame, *static_cast<const F*>(body));
}

template <class F>
void loop_here(std::uint64_t begin, std::uint64_t end, const F& body, std::uint64_t grain = 4) {
  detail::local_loop loop;
  loop.body = &body;
  loop.piece = run_chunks<F>;
  loop.grain = grain;
  detail::run_loop_here(loop, begin, end);
}

class loops : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, loops, testing::Values(1U, 2U, 4U));

TEST_P(loops, run_each_iteration_once) {
  run_pool(GetParam(), [] {
    for (const std::uint64_t grain : {1U, 7U, 1000U})
      for (const std::uint64_t n : {0U, 1U, 2U, 1000U, 20011U}) {
        std::vector<std::atomic<int>> runs(n + 3);
        loop_here(
            3, n + 3, [&runs](std::uint64_t i) { runs[i].fetch_add(1); }, grain);
        for (std::uint64_t i = 0; i < runs.size(); ++i) ASSERT_EQ(runs[i].load(), i < 3 ? 0 : 1) << n << " " << grain;
      }
  });
}

TEST_P(loops, iterations_that_wait_leave_the_rest_of_the_range_to_others) {
  run_pool(GetParam(), [] {
    constexpr std::uint64_t k_n = 500;
    std::vector<std::atomic<int>> runs(k_n);
    latch all(k_n);
    // Each waits for all: the loop ends only if every iteration begins while the others wait.
    loop_here(0, k_n, [&](std::uint64_t i) {
      runs[i].fetch_add(1);
      all.arrive_and_wait();
    });
    for (auto& r : runs) ASSERT_EQ(r.load(), 1);
  });
}

TEST_P(loops, take_any_grain) {
  run_pool(GetParam(), [] {
    for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{5}, UINT64_MAX - 3}) {
      std::vector<std::atomic<int>> runs(3);
      loop_here(
          begin, begin + 3, [&](std::uint64_t i) { yield(), runs[i - begin].fetch_add(1); }, UINT64_MAX);
      for (auto& r : runs) ASSERT_EQ(r.load(), 1);
    }
  });
}

TEST_P(loops, nest_with_waits_inside_and_outside) {
  run_pool(GetParam(), [] {
    constexpr std::uint64_t k_outer = 60;
    constexpr std::uint64_t k_inner = 50;
    std::vector<std::atomic<int>> runs(k_outer * k_inner);
    loop_here(0, k_outer, [&](std::uint64_t i) {
      if (i % 3 == 0) yield();
      loop_here(0, k_inner, [&, i](std::uint64_t k) {
        if ((i + k) % 5 == 0) yield();
        runs[i * k_inner + k].fetch_add(1);
      });
      if (i % 4 == 0) yield();
    });
    for (auto& r : runs) ASSERT_EQ(r.load(), 1);
  });
}

TEST_P(loops, an_exception_ends_the_loop_early_and_is_thrown) {
  run_pool(GetParam(), [] {
    std::atomic<std::uint64_t> ran{0};
    const auto failing = [&ran](std::uint64_t i) {
      ran.fetch_add(1);
      if (i % 100 == 50) throw std::out_of_range("no");
    };
    EXPECT_THROW(loop_here(0, 1'000'000, failing), std::out_of_range);
    EXPECT_LT(ran.load(), 1'000'000U);
    const auto failing_after_a_wait = [](std::uint64_t i) {
      yield();
      if (i == 7) throw std::length_error("later");
    };
    EXPECT_THROW(loop_here(0, 20, failing_after_a_wait), std::length_error);
    loop_here(0, 10, [](std::uint64_t) {});
  });
}

TEST(loop, is_divided_among_workers_that_are_free) {
  run_pool(2, [] {
    for (int round = 0; round < 10; ++round) {
      std::atomic<int> by[2]{};
      // The first iteration keeps its worker until the other has done something.
      loop_here(
          0, 64,
          [&by](std::uint64_t) {
            const unsigned me = detail::t_worker->index;
            by[me].fetch_add(1);
            for (int spins = 0; by[1 - me].load() == 0 && spins < 2'000'000; ++spins) std::this_thread::yield();
          },
          1);
      EXPECT_GT(by[0].load(), 0);
      EXPECT_GT(by[1].load(), 0);
      EXPECT_EQ(by[0].load() + by[1].load(), 64);
    }
  });
}

TEST(loop, outermost_ranges_are_held_back_when_too_many_iterations_wait) {
  pool_options options;
  options.workers = 1;
  options.most_waiting_bytes = 1;  // the least that is allowed: 16 tasks
  pool p(options);
  p.run([&p] {
    std::size_t most = 0;
    std::atomic<std::uint64_t> ended{0};
    semaphore gate(0);
    task_group group;
    group.run([&] {
      while (ended.load() < 300) {
        for (int k = 0; k < 50; ++k) yield();  // each lets an iteration begin, if it may
        most = std::max(most, p.at(0).stacks_in_use());
        gate.release();
      }
    });
    loop_here(
        0, 300,
        [&](std::uint64_t) {
          gate.acquire();
          ended.fetch_add(1);
        },
        1);
    group.wait();
    EXPECT_EQ(ended.load(), 300U);
    EXPECT_GE(most, 8U);
    EXPECT_LE(most, 20U);
  });
}

// What waits for the iterations may be more than the bound: they must begin all the same.
TEST(loop, outermost_ranges_are_not_held_back_for_tasks_that_wait_for_them) {
  pool_options options;
  options.workers = 1;
  options.most_waiting_bytes = 1;
  pool p(options);
  p.run([] {
    semaphore s(0);
    std::atomic<int> waiting{0};
    task_group group;
    for (int i = 0; i < 20; ++i) group.run([&] { waiting.fetch_add(1), s.acquire(); });
    while (waiting.load() < 20) yield();
    loop_here(
        0, 100, [&s](std::uint64_t) { yield(), s.release(); }, 1);
    group.wait();
  });
}

TEST(loop, leaves_nothing_at_its_end_if_nothing_waited) {
  pool_options options;
  options.workers = 1;
  pool p(options);
  std::atomic<int> ran{0};
  p.run([&ran] {
    loop_here(
        0, 1000, [&ran](std::uint64_t) { loop_here(0, 3, [&ran](std::uint64_t) { ran.fetch_add(1); }); }, 1000);
  });
  EXPECT_EQ(ran.load(), 3000);
  EXPECT_EQ(p.at(0).counts().left, 0U);
}

// Asynchronous operations begun by iterations must be fenced on the worker that began them, on none but that.
TEST(loop, fences_each_worker_that_began_something) {
  struct recording final : pool_hooks {
    std::atomic<std::uint64_t> issued[4]{};
    std::atomic<std::uint64_t> fenced[4]{};
    std::atomic<int> wrong{0};
    bool fence(worker& w, fence_request&) noexcept override {
      if (detail::t_worker != &w) wrong.fetch_add(1);
      fenced[w.index].store(issued[w.index].load());
      return true;
    }
  } above;
  int unfenced = 0;
  run_pool(
      4,
      [&] {
        for (int round = 0; round < 300; ++round) {
          loop_here(
              0, 64,
              [&above](std::uint64_t i) {
                detail::worker_base& w = *detail::t_worker;
                {
                  const fiber::tsan_ignore_scope ignore;  // the worker's own count
                  ++*w.async_issued;
                }
                above.issued[w.index].fetch_add(1);
                if (i % 8 == 0) yield();
              },
              1);
          for (int w = 0; w < 4; ++w) unfenced += above.fenced[w].load() == above.issued[w].load() ? 0 : 1;
        }
      },
      &above);
  EXPECT_EQ(above.wrong.load(), 0);
  EXPECT_EQ(unfenced, 0);
}

// The steps of a loop that adapts, on a worker that can be stolen from.
template <class F>
std::vector<std::uint64_t> steps_of(std::uint64_t positions, std::uint64_t least, const F& body) {
  struct recorded {
    const F& body;
    mutex guard;
    std::vector<std::uint64_t> steps;
  } all{body, {}, {}};
  run_pool(2, [&] {
    detail::local_loop loop;
    loop.body = &all;
    loop.adapts = true;
    loop.least = least;
    loop.grain = detail::k_longest_adaptive_chunk;
    loop.piece = [](const void* raw, detail::loop_frame& frame) {
      auto& to = *static_cast<recorded*>(const_cast<void*>(raw));
      while (detail::next_chunk(frame)) {
        const std::uint64_t step = detail::number(frame.limit) - detail::number(frame.next);
        detail::each_position<false>(frame, to.body);
        const std::lock_guard hold(to.guard);
        to.steps.push_back(step);
      }
    };
    detail::run_loop_here(loop, 0, positions);
  });
  return all.steps;
}

TEST(loop, steps_of_slow_iterations_are_single_ones) {
  const auto steps =
      steps_of(200, 1, [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::microseconds(30)); });
  EXPECT_EQ(steps, std::vector<std::uint64_t>(200, 1));
}

TEST(loop, steps_are_not_shorter_than_the_least) {
  const auto steps =
      steps_of(1000, 10, [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::microseconds(5)); });
  const auto shorter = std::ranges::count_if(steps, [](std::uint64_t s) { return s < 10; });
  EXPECT_EQ(std::ranges::count(steps, std::uint64_t{10}) + shorter, static_cast<std::ptrdiff_t>(steps.size()));
  EXPECT_LE(shorter, static_cast<std::ptrdiff_t>(steps.size()) / 2);  // the last one of a piece
}

TEST(loop, slow_iterations_at_the_end_are_divided) {
  run_pool(2, [] {
    constexpr std::uint64_t k_n = 100'000;
    std::atomic<int> fast{0};
    std::atomic<int> slow[2]{};
    parallel_for(std::uint64_t{0}, k_n, [&](std::uint64_t i) {
      fast.fetch_add(1, std::memory_order_relaxed);
      if (i < k_n - 1000) return;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      slow[detail::t_worker->index].fetch_add(1);
    });
    EXPECT_EQ(fast.load(), static_cast<int>(k_n));
    EXPECT_EQ(slow[0].load() + slow[1].load(), 1000);
    EXPECT_GT(slow[0].load(), 0);
    EXPECT_GT(slow[1].load(), 0);
  });
}

TEST(loop, slow_points_of_one_tile_are_divided) {
  run_pool(2, [] {
    const range2d box(range1d(0, 100), range1d(0, 100));
    const auto cut = detail::tiling<range2d>::of_size(box, detail::default_grain(box.size(), 2));
    ASSERT_GT(cut.tiles(), 10U);
    const range2d last = cut.tile(cut.tiles() - 1);
    ASSERT_GT(last.size(), 50U);
    std::atomic<std::uint64_t> all{0};
    std::atomic<int> slow[2]{};
    parallel_for(box, [&](std::uint64_t row, std::uint64_t column) {
      all.fetch_add(1, std::memory_order_relaxed);
      if (row < last.side(0).begin() || column < last.side(1).begin()) return;
      slow[detail::t_worker->index].fetch_add(1);
      // Until the other worker has its share, at most 5 ms.
      for (int i = 0; i < 50 && slow[1 - detail::t_worker->index].load() == 0; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
    EXPECT_EQ(all.load(), box.size());
    EXPECT_EQ(static_cast<std::uint64_t>(slow[0].load() + slow[1].load()), last.size());
    EXPECT_GT(slow[0].load(), 0);
    EXPECT_GT(slow[1].load(), 0);
  });
}

TEST(loop, default_grain_makes_many_chunks_but_not_tiny_ones) {
  EXPECT_EQ(detail::default_grain(0, 4), 1U);
  EXPECT_EQ(detail::default_grain(10, 4), 1U);
  EXPECT_EQ(detail::default_grain(128 * 50, 4), 50U);
  EXPECT_EQ(detail::default_grain(1'000'000'000, 1), 1024U);
}

}  // namespace
}  // namespace shoal::sched
