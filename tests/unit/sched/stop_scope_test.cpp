// SPDX-License-Identifier: Apache-2.0
#include "shoal/stop_scope.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "shoal/coroutine.hpp"
#include "shoal/future.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/parallel_for_each.hpp"
#include "shoal/parallel_pipeline.hpp"
#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;
using std::chrono::milliseconds;

class stopping : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, stopping, testing::Values(1U, 2U, 4U));

TEST_P(stopping, tasks_that_have_not_begun_do_not_run) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    EXPECT_FALSE(scope.stop_requested());
    shoal::task_group group(scope);
    std::atomic<int> ran{0};
    group.run([&] { ++ran; });
    group.wait();
    EXPECT_TRUE(scope.request_stop());
    EXPECT_FALSE(scope.request_stop());
    for (int i = 0; i < 100; ++i) {
      group.run([&] { ++ran; });
      group.run(shoal::movable, [&] { ++ran; });
      group.run(shoal::priority::low, [&] { ++ran; });
      group.run(shoal::stack_bytes(1 << 17), [&] { ++ran; });
    }
    group.wait();
    EXPECT_EQ(ran, 1);
    EXPECT_FALSE(shoal::stop_requested()) << "this task is in no scope";
  });
}

// Groups, loops, futures and calls below the tasks of the scope, of which only the outermost one names it.
TEST_P(stopping, reaches_everything_below_at_any_depth) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    std::atomic<int> seen{0};
    std::atomic<int> begun{0};
    std::atomic<int> whole{0};
    shoal::latch all(6);
    shoal::latch asked(1);
    const auto waits = [&] {
      EXPECT_FALSE(shoal::stop_requested());
      all.count_down();
      asked.wait();
      seen += shoal::stop_requested() ? 1 : 0;
      shoal::task_group late(shoal::in_scope);
      late.run([&] { ++begun; });
      late.wait();
      shoal::parallel_for(
          1000, [&](int) { ++begun; }, shoal::in_scope);
      EXPECT_EQ(shoal::parallel_reduce(
                    1000, 0, [](int i) { return i; }, std::plus<>(), shoal::in_scope),
                0);
      EXPECT_EQ(shoal::parallel_reduce(
                    10, 0, [](int i) { return i; }, std::plus<>()),
                45)
          << "it was not made to stop";
      whole += shoal::async("late", [] { return shoal::stop_requested() ? 1 : 0; }).get();
    };
    shoal::task_group group;
    shoal::parallel_for(
        10, [](int) {}, shoal::in_scope);  // without a scope it does nothing
    scope.run([&] {
      group.run([&] {
        shoal::task_group inner;
        inner.run([&] {
          shoal::task_group innermost;
          innermost.run(waits);
          innermost.run(shoal::movable, waits);
          innermost.wait();
        });
        inner.run([&] { shoal::async(waits).then([&] { whole += 0; }); });
        inner.run([&] {
          shoal::parallel_for(
              2, [&](int) { waits(); }, shoal::simple_partitioner{1});
        });
        inner.run([&] { shoal::parallel_invoke(waits, [] {}); });
        inner.wait();
      });
    });
    all.wait();
    EXPECT_FALSE(shoal::stop_requested());
    scope.request_stop();
    asked.count_down();
    group.wait();
    EXPECT_EQ(seen, 6);
    EXPECT_EQ(whole, 6);
    EXPECT_EQ(begun, 0);
  });
}

TEST_P(stopping, scopes_within_scopes) {
  run_pool(GetParam(), [] {
    shoal::stop_scope outer;
    outer.run([&] {
      shoal::stop_scope inner;
      inner.run([&] {
        EXPECT_FALSE(shoal::stop_requested());
        inner.request_stop();
        EXPECT_TRUE(shoal::stop_requested());
        EXPECT_FALSE(outer.stop_requested());
      });
      EXPECT_FALSE(shoal::stop_requested());
      shoal::stop_scope second;
      second.run([&] {
        shoal::yield();
        outer.request_stop();
        EXPECT_TRUE(shoal::stop_requested());
        EXPECT_TRUE(second.stop_requested());
      });
      EXPECT_TRUE(shoal::stop_requested());
    });
    EXPECT_FALSE(shoal::stop_requested());
    std::stop_source from_elsewhere;
    shoal::stop_scope with_token(from_elsewhere.get_token());
    EXPECT_FALSE(with_token.stop_requested());
    from_elsewhere.request_stop();
    EXPECT_TRUE(with_token.stop_requested());
    EXPECT_FALSE(with_token.timed_out());
  });
}

TEST_P(stopping, a_time_limit_ends_what_has_no_end) {
  run_pool(GetParam(), [] {
    std::uint64_t turns = 0;
    shoal::stop_scope scope(milliseconds(10));
    scope.run([&] {
      shoal::parallel_for(
          std::uint64_t{1} << 60, [](std::uint64_t) {}, shoal::in_scope);
      while (!shoal::stop_requested()) {
        ++turns;
        shoal::yield();
      }
    });
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_TRUE(scope.timed_out());
    shoal::stop_scope long_one(std::chrono::hours(1));
    EXPECT_FALSE(long_one.stop_requested());
    long_one.request_stop();
    EXPECT_FALSE(long_one.timed_out());
  });
}

// None of these lets its worker look at the time.
TEST_P(stopping, a_time_limit_is_seen_by_tasks_that_compute) {
  const auto compute = [](milliseconds span) {
    for (const auto end = std::chrono::steady_clock::now() + span; std::chrono::steady_clock::now() < end;) {
    }
  };
  run_pool(GetParam(), [&compute] {
    shoal::stop_scope polled(milliseconds(2));
    polled.run([] {
      shoal::stop_scope inner;
      inner.run([] {
        while (!shoal::stop_requested()) {
        }
      });
      EXPECT_FALSE(inner.timed_out());
    });
    EXPECT_TRUE(polled.timed_out());
    std::atomic<int> began{0};
    shoal::stop_scope around(milliseconds(1));
    around.run([&] {
      shoal::task_group group(shoal::in_scope);
      for (int i = 0; i < 100; ++i)
        group.run([&] {
          ++began;
          compute(milliseconds(3));
        });
      group.wait();
      shoal::parallel_for(
          100,
          [&](int) {
            ++began;
            compute(milliseconds(3));
          },
          shoal::in_scope);
    });
    EXPECT_TRUE(around.timed_out());
    EXPECT_LE(began, static_cast<int>(2 * GetParam()));
  });
}

// A worker asks before each call, and each takes longer than the limit.
TEST_P(stopping, a_time_limit_ends_elements_and_items) {
  run_pool(GetParam(), [] {
    const auto calls_of = [](const auto& run) {
      std::atomic<int> calls{0};
      shoal::stop_scope scope(milliseconds(1));
      scope.run([&] {
        run([&] {
          ++calls;
          for (const auto end = std::chrono::steady_clock::now() + milliseconds(3);
               std::chrono::steady_clock::now() < end;) {
          }
        });
      });
      EXPECT_TRUE(scope.timed_out());
      return calls.load();
    };
    const std::vector<int> some(1000);
    const std::list<int> chained(1000);
    const int once = static_cast<int>(GetParam());
    EXPECT_LE(calls_of([&](const auto& compute) {
                shoal::parallel_for_each(
                    some, [&](int) { compute(); }, shoal::in_scope);
              }),
              once);
    EXPECT_LE(calls_of([&](const auto& compute) {
                shoal::parallel_for_each(
                    chained, [&](int) { compute(); }, shoal::in_scope);
              }),
              once);
    EXPECT_LE(calls_of([&](const auto& compute) {
                const auto source = [&](shoal::flow_control&) {
                  compute();
                  return 1;
                };
                shoal::parallel_pipeline(8,
                                         shoal::stage<void, int>(shoal::stage_mode::parallel, source) &
                                             shoal::stage<int, void>(shoal::stage_mode::parallel, [](int) {}),
                                         shoal::in_scope);
              }),
              once);
  });
}

TEST_P(stopping, a_limit_that_has_passed_stops_at_once) {
  run_pool(GetParam(), [] {
    for (const milliseconds none : {milliseconds(0), milliseconds(-5)}) {
      shoal::stop_scope scope(none);
      EXPECT_TRUE(scope.stop_requested());
      EXPECT_TRUE(scope.timed_out());
      shoal::task_group group(scope);
      group.run([] { ADD_FAILURE() << "begun after the limit"; });
      group.wait();
    }
    shoal::stop_scope outer;
    outer.request_stop();
    outer.run([] {
      const shoal::stop_scope inner(milliseconds(0));
      EXPECT_FALSE(inner.timed_out()) << "the outer one was first";
    });
  });
}

TEST(stopping, a_timed_scope_may_end_on_another_worker) {
  run_pool(4, [] {
    shoal::latch go(1);
    shoal::task_group group;
    for (int i = 0; i < shoal::rounds(200, 50); ++i)
      group.run(shoal::movable, [&] {
        const auto scope = std::make_unique<shoal::stop_scope>(std::chrono::minutes(10));
        scope->run([&] {
          go.wait();
          EXPECT_FALSE(shoal::stop_requested());
        });
      });
    go.count_down();
    group.wait();
  });
}

// In checked builds it says so if it believes that one of them still runs.
TEST_P(stopping, a_scope_may_end_as_soon_as_its_futures_have) {
  run_pool(GetParam(), [] {
    for (int i = 0; i < shoal::rounds(1000, 100); ++i) {
      auto scope = std::make_unique<shoal::stop_scope>();
      auto plain = scope->run([] { return shoal::async([] { return 1; }).then([](int one) { return one + 1; }); });
      auto coroutine = scope->run([] {
        return shoal::async([]() -> shoal::coroutine<int> { co_return 1 + co_await shoal::async([] { return 1; }); });
      });
      if (i % 2 == 0) shoal::yield();
      EXPECT_EQ(plain.get() + coroutine.get(), 4);
      scope.reset();
    }
  });
}

TEST_P(stopping, threads_may_ask_and_a_loop_takes_the_token) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    std::thread asks([&] {
      std::this_thread::sleep_for(milliseconds(5));
      scope.request_stop();
    });
    shoal::parallel_for(
        std::uint64_t{1} << 60, [](std::uint64_t) {}, scope.get_token());
    asks.join();
    EXPECT_TRUE(scope.stop_requested());
  });
}

}  // namespace
