// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class parallel_for_of : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, parallel_for_of, testing::Values(1U, 2U, 3U, 4U));

using counts = std::vector<std::atomic<int>>;

void expect_once(const counts& runs, const std::string& what) {
  for (std::size_t i = 0; i < runs.size(); ++i) ASSERT_EQ(runs[i].load(), 1) << what << " " << i;
}

// Runs `loop(partitioner)` with each of them.
template <class Loop>
void with_each_partitioner(const Loop& loop) {
  loop(auto_partitioner{}, "auto");
  for (const std::uint64_t grain : {1U, 3U, 1000U}) loop(simple_partitioner{grain}, "simple " + std::to_string(grain));
  loop(static_partitioner{}, "static");
  for (const unsigned blocks : {1U, 5U}) {
    affinity_partitioner kept(blocks);
    for (int sweep = 0; sweep < 3; ++sweep) loop(kept, "affinity " + std::to_string(blocks));
  }
}

void sometimes_wait(std::uint64_t i, mutex& m) {
  if (i % 7 == 0) yield();
  if (i % 11 == 0) {
    const std::lock_guard hold(m);
    yield();
  }
}

TEST_P(parallel_for_of, numbers_runs_each_once) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string& name) {
      for (const std::size_t n : {0U, 1U, 2U, 5U, rounds(1000U, 200U), rounds(5003U, 1003U)}) {
        counts runs(n);
        mutex m;
        parallel_for(
            0, n, [&](std::size_t i) { runs[i].fetch_add(1); }, partitioner);
        expect_once(runs, name);
        counts again(n);
        parallel_for(
            range1d(0, n, 4),
            [&](std::uint64_t i) {
              sometimes_wait(i, m);
              again[i].fetch_add(1);
              sometimes_wait(i + 1, m);
            },
            partitioner);
        expect_once(again, name);
        counts in_parts(n);
        parallel_for(
            3, n + 3,
            [&](const range1d& part) {
              ASSERT_FALSE(part.empty());
              for (auto i = part.begin(); i < part.end(); ++i) {
                sometimes_wait(i, m);
                in_parts[i - 3].fetch_add(1);
              }
            },
            partitioner);
        expect_once(in_parts, name);
      }
    });
  });
}

TEST_P(parallel_for_of, numbers_takes_any_integers) {
  run_pool(GetParam(), [] {
    std::atomic<int> sum{0};
    parallel_for(-5, 7, [&](int i) { sum.fetch_add(100 + i); });
    EXPECT_EQ(sum.load(), 12 * 100 + 6);
    parallel_for(7, -5, [&](int) { sum.store(0); });
    EXPECT_NE(sum.load(), 0);
    sum.store(0);
    parallel_for(std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t i) { sum.fetch_add(i); });
    EXPECT_EQ(sum.load(), -128 - 127);
    std::atomic<std::uint64_t> top{0};
    parallel_for(UINT64_MAX - 3, UINT64_MAX, [&](std::uint64_t i) { top.fetch_add(UINT64_MAX - i); });
    EXPECT_EQ(top.load(), 6U);
  });
}

TEST_P(parallel_for_of, boxes_runs_each_point_once) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string& name) {
      for (const auto& [rows, columns] :
           {std::pair{1U, 1U}, {1U, 300U}, {300U, 1U}, {rounds(37U, 17U), rounds(53U, 23U)}, {0U, 5U}}) {
        const range2d box(2, 2 + rows, 1, 1 + columns);
        const auto at = [c = columns](std::uint64_t i, std::uint64_t j) { return (i - 2) * c + (j - 1); };
        mutex m;
        counts runs(std::size_t{rows} * columns);
        parallel_for(
            box, [&](std::uint64_t i, std::uint64_t j) { runs[at(i, j)].fetch_add(1); }, partitioner);
        expect_once(runs, name);
        counts again(runs.size());
        parallel_for(
            box,
            [&](std::uint64_t i, std::uint64_t j) {
              sometimes_wait(i + j, m);
              again[at(i, j)].fetch_add(1);
            },
            partitioner);
        expect_once(again, name);
        counts in_parts(runs.size());
        parallel_for(
            box,
            [&](const range2d& tile) {
              ASSERT_FALSE(tile.empty());
              for (auto i = tile.rows().begin(); i < tile.rows().end(); ++i)
                for (auto j = tile.columns().begin(); j < tile.columns().end(); ++j) {
                  sometimes_wait(i * j, m);
                  in_parts[at(i, j)].fetch_add(1);
                }
            },
            partitioner);
        expect_once(in_parts, name);
      }
      counts runs(std::size_t{11} * 12 * 13);
      const range3d box(range1d(0, 11), range1d(0, 12, 5), range1d(0, 13));
      mutex m;
      parallel_for(
          box,
          [&](std::uint64_t i, std::uint64_t j, std::uint64_t k) {
            sometimes_wait(i + j + k, m);
            runs[(i * 12 + j) * 13 + k].fetch_add(1);
          },
          partitioner);
      expect_once(runs, name);
      std::atomic<std::uint64_t> points{0};
      parallel_for(
          box, [&](const range3d& tile) { points.fetch_add(tile.size()); }, partitioner);
      EXPECT_EQ(points.load(), box.size());
    });
  });
}

// Each iteration waits for all others: the loop ends only if every one begins while the others wait.
TEST_P(parallel_for_of, anything_lets_all_iterations_wait_at_once) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string&) {
      constexpr std::ptrdiff_t k_n = 200;
      latch all(k_n);
      parallel_for(
          0, k_n, [&](std::ptrdiff_t) { all.arrive_and_wait(); }, partitioner);
      latch points(k_n);
      parallel_for(
          range2d(0, 20, 0, 10), [&](std::uint64_t, std::uint64_t) { points.arrive_and_wait(); }, partitioner);
    });
  });
}

TEST_P(parallel_for_of, three_nested_loops_with_waits) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string& name) {
      counts runs(6 * 7 * 8);
      parallel_for(
          0, 6,
          [&](unsigned i) {
            if (i % 2 == 0) yield();
            parallel_for(
                0, 7,
                [&, i](unsigned j) {
                  if (j % 3 == 0) yield();
                  parallel_for(
                      0, 8,
                      [&, i, j](unsigned k) {
                        if (k % 4 == 0) yield();
                        runs[(i * 7 + j) * 8 + k].fetch_add(1);
                      },
                      static_partitioner{});
                  if (j % 2 == 0) yield();
                },
                simple_partitioner{2});
          },
          partitioner);
      expect_once(runs, name);
    });
  });
}

TEST_P(parallel_for_of, many_that_throw_gives_one_exception_and_ends_early) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string& name) {
      std::atomic<std::uint64_t> ran{0};
      const auto failing = [&](std::uint64_t i) {
        ran.fetch_add(1);
        if (i % 50 == 20) throw std::out_of_range("no");
      };
      EXPECT_THROW(parallel_for(0, 1'000'000, failing, partitioner), std::out_of_range) << name;
      EXPECT_LT(ran.load(), 1'000'000U) << name;
      const auto failing_late = [](std::uint64_t i, std::uint64_t j) {
        yield();
        if ((i + j) % 5 == 3) throw std::length_error("later");
      };
      EXPECT_THROW(parallel_for(range2d(0, 20, 0, 20), failing_late, partitioner), std::length_error) << name;
      EXPECT_THROW(parallel_for(
                       range2d(0, 20, 0, 20), [](const range2d&) { throw 5; }, partitioner),
                   int)
          << name;
      parallel_for(
          0, 100, [](int) {}, partitioner);  // as good as before
    });
  });
}

TEST_P(parallel_for_of, what_was_stopped_begins_no_more_and_returns) {
  run_pool(GetParam(), [] {
    with_each_partitioner([](auto&& partitioner, const std::string& name) {
      std::stop_source stopped;
      stopped.request_stop();
      bool any = false;
      parallel_for(
          0, 1000, [&](int) { any = true; }, partitioner, stopped.get_token());
      parallel_for(
          range2d(0, 9, 0, 9), [&](std::uint64_t, std::uint64_t) { any = true; }, stopped.get_token(), partitioner);
      parallel_for(
          range2d(0, 9, 0, 9), [&](const range2d&) { any = true; }, partitioner, stopped.get_token());
      EXPECT_FALSE(any) << name;

      std::stop_source source;
      std::atomic<int> after{0};
      std::atomic<int> ran{0};
      parallel_for(
          0, 100'000,
          [&](int i) {
            if (source.stop_requested()) after.fetch_add(1);
            ran.fetch_add(1);
            if (i % 1000 == 10) yield();
            if (ran.load() > 30) source.request_stop();
          },
          partitioner, source.get_token());
      // One per worker may have been about to begin.
      EXPECT_LE(after.load(), static_cast<int>(detail::t_worker->siblings)) << name;
      EXPECT_GT(ran.load(), 30) << name;
      EXPECT_LT(ran.load(), 1000) << name;
    });
  });
}

std::atomic<int> counted{0};
void count_one(int) { counted.fetch_add(1); }
int twice(int i) { return 2 * i; }
int plus(int a, int b) { return a + b; }

TEST(parallel_for, takes_plain_functions) {
  run_pool(2, [] {
    parallel_for(0, 500, count_one);
    parallel_for(0, 500, &count_one, static_partitioner{});
    EXPECT_EQ(counted.load(), 1000);
    EXPECT_EQ(parallel_reduce(0, 100, 0, twice, plus), 9900);
  });
}

TEST(parallel_for, simple_chunks_are_at_most_the_grain) {
  run_pool(2, [] {
    for (const std::uint64_t grain : {1U, 10U, 333U}) {
      parallel_for(
          0, 5000, [=](const range1d& part) { EXPECT_LE(part.size(), grain); }, simple_partitioner{grain});
      parallel_for(
          range2d(0, 70, 0, 70), [=](const range2d& t) { EXPECT_LE(t.size(), grain); }, simple_partitioner{grain});
      parallel_for(
          range1d(0, 5000, 50),
          [=](const range1d& part) { EXPECT_LE(part.size(), std::max(grain, std::uint64_t{50})); },
          simple_partitioner{grain});
    }
  });
}

// Nothing is left behind, no stack was needed, though halves were offered.
TEST(parallel_for, that_nobody_helps_needs_no_stack) {
  pool_options options;
  options.workers = 1;
  pool p(options);
  std::uint64_t sum = 0;
  p.run([&] {
    detail::t_worker->siblings = 2;  // as if there were somebody to offer to
    parallel_for(0, 10'000, [&](std::uint64_t i) { sum += i; });
    parallel_for(0, 100, [&](std::uint64_t) { parallel_for(0, 4, [&](std::uint64_t i) { sum += i; }); });
    detail::t_worker->siblings = 1;
  });
  EXPECT_EQ(sum, 10'000ull * 9'999 / 2 + 600);
  EXPECT_EQ(p.at(0).counts().left, 0U);
}

// Trivially copyable, says the standard's library of a struct whose only member is an atomic; copied it cannot be.
TEST(parallel_for, takes_a_body_that_cannot_be_copied) {
  struct counts_itself {
    mutable std::atomic<int> n{0};
    void operator()(int) const { n.fetch_add(1); }
  };
  run_pool(2, [] {
    const counts_itself body;
    parallel_for(0, 1000, body);
    EXPECT_EQ(body.n.load(), 1000);
  });
}

TEST(parallel_for_death, bounds_of_mixed_signs_are_told) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const char* const k_sentence = "bounds are of mixed signs";
  EXPECT_DEATH(run_pool(1, [] { parallel_for(-3, std::size_t{10}, [](std::size_t) {}); }), k_sentence);
  EXPECT_DEATH(run_pool(1, [] { parallel_for(std::size_t{1}, -1, [](std::size_t) {}); }), k_sentence);
  run_pool(1, [] {
    std::int64_t sum = 0;
    parallel_for(-3, 3U + std::int64_t{0}, [&sum](std::int64_t i) { sum += i; });  // the common type holds both
    EXPECT_EQ(sum, -3);
    parallel_for(0, std::size_t{4}, [&sum](std::size_t i) { sum += static_cast<std::int64_t>(i); });
    EXPECT_EQ(sum, 3);
  });
}

static_assert(detail::loop_option<affinity_partitioner&>);
static_assert(!detail::loop_option<affinity_partitioner> && !detail::loop_option<const affinity_partitioner&>);

}  // namespace
}  // namespace shoal::sched
