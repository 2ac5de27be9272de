// SPDX-License-Identifier: Apache-2.0
// Pipelines: order and exclusion at serial stages, the bound on items, both kinds of source, waits, exceptions.
#include "shoal/parallel_pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

using enum stage_mode;
constexpr unsigned k_workers_of_pipelines[] = {1, 2, 8};

// 0 ... n - 1
auto numbers_below(int n, int& next, stage_mode mode = serial_in_order) {
  return stage<void, int>(mode, [n, &next]() -> std::optional<int> {
    if (next == n) return std::nullopt;
    return next++;
  });
}

TEST(parallel_pipeline, keeps_the_order_of_the_source_at_stages_in_order) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      for (const std::size_t tokens : {1U, 2U, 3U, 16U, 1000U})
        for (const int count : {0, 1, 2, rounds(1000, 200)}) {
          int next = 0;
          std::vector<std::string> got;
          parallel_pipeline(tokens, numbers_below(count, next) & stage<int, std::string>(parallel, [](int i) {
                                      if (i % 3 == 0) yield();
                                      return std::to_string(i);
                                    }) & stage<std::string, void>(serial_in_order, [&](std::string s) {
                                      if (got.size() % 5 == 0) yield();
                                      got.push_back(std::move(s));
                                    }));
          ASSERT_EQ(got.size(), static_cast<std::size_t>(count));
          for (int i = 0; i < count; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], std::to_string(i));
        }
    });
}

TEST(parallel_pipeline, calls_serial_stages_one_at_a_time_and_keeps_at_most_so_many_items) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      constexpr int k_tokens = 4;
      std::atomic<int> inside[3] = {};
      std::atomic<int> items{0};
      std::atomic<int> most{0};
      std::atomic<long> sum{0};
      const auto alone = [&](int stage) {
        EXPECT_EQ(++inside[stage], 1);
        yield();
        --inside[stage];
      };
      int next = 0;
      int taken = 0;
      parallel_pipeline(k_tokens, stage<void, int>(serial_out_of_order, [&](flow_control& control) {
                                    alone(0);
                                    if (taken == 500) {
                                      control.stop();
                                      return 0;
                                    }
                                    ++taken;
                                    const int now = ++items;
                                    if (now > most) most = now;
                                    return next++;
                                  }) & stage<int, std::unique_ptr<int>>(serial_out_of_order, [&](int i) {
                                    alone(1);
                                    return std::make_unique<int>(i);
                                  }) & stage<std::unique_ptr<int>, int>(parallel, [](std::unique_ptr<int> p) {
                                    return *p;
                                  }) & stage<int, void>(serial_out_of_order, [&](int i) {
                                    alone(2);
                                    sum += i;
                                    --items;
                                  }));
      EXPECT_EQ(sum, 500L * 499 / 2);
      EXPECT_LE(most, k_tokens);
      EXPECT_EQ(items, 0);
    });
}

TEST(parallel_pipeline, has_a_parallel_source_and_pipelines_of_one_stage) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      std::atomic<int> next{0};
      std::vector<int> order(300);  // it does not grow: a stage reads it while the one before goes on
      std::size_t placed = 0;
      std::atomic<int> passed{0};
      parallel_pipeline(8, stage<void, int>(parallel, [&]() -> std::optional<int> {
                             const int i = next++;
                             return i < 300 ? std::optional(i) : std::nullopt;
                           }) & stage<int, int>(serial_in_order, [&](int i) {
                             order[placed++] = i;
                             return i;
                           }) & stage<int, void>(serial_in_order, [&](int i) {
                             EXPECT_EQ(order[static_cast<std::size_t>(passed++)], i);  // the same order
                           }));
      EXPECT_EQ(passed, 300);
      int calls = 0;
      parallel_pipeline(3, stage<void, void>(serial_in_order, [&](flow_control& control) {
                          if (++calls == 7) control.stop();
                        }));
      EXPECT_EQ(calls, 7);
    });
}

TEST(parallel_pipeline, throws_the_first_exception_of_any_stage) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      const auto live = std::make_shared<int>(0);
      for (int bad = 0; bad < 4; ++bad) {
        int next = 0;
        std::atomic<int> ended{0};
        const auto check = [bad](int stage, int i) {
          if (stage == bad && i == 20) throw std::runtime_error("item 20");
        };
        using item = std::pair<int, std::shared_ptr<int>>;
        const auto source = stage<void, item>(serial_in_order, [&]() -> std::optional<item> {
          check(0, next);
          if (next == 10'000) return std::nullopt;
          return item(next++, live);
        });
        const auto middle = stage<item, item>(parallel, [&](item i) {
          check(1, i.first);
          yield();
          return i;
        });
        const auto ordered = stage<item, item>(serial_in_order, [&](item i) {
          check(2, i.first);
          return i;
        });
        const auto last = stage<item, void>(serial_in_order, [&](const item& i) {
          check(3, i.first);
          ++ended;
        });
        EXPECT_THROW(parallel_pipeline(6, source & middle & ordered & last), std::runtime_error);
        EXPECT_LT(next, 10'000);
        EXPECT_LE(ended, next);
        EXPECT_EQ(live.use_count(), 1);
      }
    });
}

TEST(parallel_pipeline, lets_stages_wait_for_each_other) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      // An item waits until three newer ones have come: their tasks run meanwhile.
      semaphore arrived(0);
      int next = 0;
      std::atomic<int> calls{0};
      parallel_pipeline(4, numbers_below(40, next) & stage<int, int>(parallel, [&](int i) {
                             if (i % 4 == 3)
                               arrived.release(3);
                             else
                               arrived.acquire();
                             return i;
                           }) & stage<int, void>(serial_in_order, [&](int i) { EXPECT_EQ(i, calls++); }));
      EXPECT_EQ(calls, 40);
    });
}

TEST(parallel_pipeline, ends_when_it_is_asked_to) {
  run_pool(3, [] {
    std::stop_source source;
    int next = 0;
    int last = 0;
    parallel_pipeline(5,
                      stage<void, int>(serial_in_order, [&]() -> std::optional<int> { return next++; }) &
                          stage<int, void>(serial_in_order,
                                           [&](int i) {
                                             EXPECT_EQ(i, last++);
                                             if (i == 50) source.request_stop();
                                           }),
                      source.get_token());
    EXPECT_EQ(last, next);  // what the source gave has passed
    EXPECT_GT(last, 50);
  });
}

TEST(parallel_pipeline, carries_an_item_through_free_stages_on_one_worker) {
  run_pool(4, [] {
    int next = 0;
    std::atomic<int> moved{0};
    parallel_pipeline(
        1, stage<void, std::pair<int, unsigned>>(serial_in_order, [&]() -> std::optional<std::pair<int, unsigned>> {
             if (next == 200) return std::nullopt;
             return std::pair(next++, detail::t_worker->index);
           }) & stage<std::pair<int, unsigned>, unsigned>(parallel, [&](std::pair<int, unsigned> i) {
             if (i.second != detail::t_worker->index) ++moved;
             return detail::t_worker->index;
           }) & stage<unsigned, void>(serial_in_order, [&](unsigned worker) {
             if (worker != detail::t_worker->index) ++moved;
           }));
    EXPECT_EQ(moved, 0);
  });
}

TEST(parallel_pipeline, nests_in_loops_and_in_stages) {
  for (const unsigned workers : k_workers_of_pipelines)
    run_pool(workers, [] {
      std::atomic<long> sum{0};
      const auto run = [&](int count, const auto& inner) {
        int next = 0;
        parallel_pipeline(3, numbers_below(count, next) & stage<int, int>(parallel, [&](int i) {
                               inner(i);
                               return i;
                             }) & stage<int, void>(serial_out_of_order, [&](int i) { sum += i; }));
      };
      parallel_for(0, 10, [&](int) { run(20, [&](int i) { run(i % 4, [](int) {}); }); });
      EXPECT_EQ(sum, 10 * (190 + 5 * (0 + 0 + 1 + 3)));
    });
}

TEST(parallel_pipeline_death, needs_a_token) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1,
                        [] {
                          int next = 0;
                          parallel_pipeline(0, numbers_below(1, next) & stage<int, void>(parallel, [](int) {}));
                        }),
               "a pipeline needs at least one token");
}

}  // namespace
}  // namespace shoal::sched
