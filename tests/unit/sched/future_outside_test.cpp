// SPDX-License-Identifier: Apache-2.0
// Promises that threads set, and tasks of other pools: what follows is a task of the pool in which it was attached.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/blocking.hpp"
#include "shoal/coroutine.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/sleep.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/when_any.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

// 0: the calling thread is no worker.
std::uint64_t pool_here() { return detail::t_worker == nullptr ? 0 : sched::this_worker()->owner().number(); }

class set_outside : public testing::TestWithParam<unsigned> {
protected:
  template <class F>
  void run(F&& f) const {
    sched::run_pool(GetParam(), std::forward<F>(f));
  }
};
INSTANTIATE_TEST_SUITE_P(workers, set_outside, testing::Values(1U, 2U, 4U),
                         [](const auto& given) { return std::to_string(given.param) + "_workers"; });

TEST_P(set_outside, continuations_run_as_tasks_and_may_wait) {
  run([] {
    promise<int> p;
    auto next = p.get_future()
                    .then([](int i) {
                      yield();
                      task_group group;
                      std::atomic<int> sum{i};
                      for (int k = 0; k < 10; ++k) group.run([&sum] { ++sum; });
                      group.wait();
                      return std::pair(sum.load(), pool_here());
                    })
                    .then([](std::pair<int, std::uint64_t> got) { return got; });
    std::thread thread([p = std::move(p)]() mutable { p.set_value(5); });
    EXPECT_EQ(next.get(), std::pair(15, pool_here()));
    thread.join();

    promise<int> q;
    auto after = q.get_future().then([](int i) { return i + 1; });
    blocking([&q] { q.set_value(1); });
    EXPECT_EQ(after.get(), 2);
  });
}

TEST_P(set_outside, gatherings_and_coroutines_go_on) {
  run([] {
    for (int i = 0; i < rounds(300, 30); ++i) {
      promise<int> p;
      promise<void> q;
      promise<std::string> r;
      auto both = when_all(p.get_future(), q.get_future()).then([](auto got) { return std::get<0>(got); });
      auto first = when_any(r.get_future(), async([] { return std::string("a task"); }));
      auto coroutine = async([&both, text = promise<void>()]() mutable -> shoal::coroutine<int> {
        auto done = text.get_future();
        std::thread([text = std::move(text)]() mutable { text.set_value(); }).detach();
        co_await std::move(done);
        co_return 1 + co_await std::move(both);
      });
      std::thread a([&] {
        p.set_value(3);
        r.set_value("a thread");
      });
      std::thread b([q = std::move(q)]() mutable { q.set_value(); });
      EXPECT_EQ(coroutine.get(), 4);
      EXPECT_LT(first.get().index, 2U);
      a.join();
      b.join();
    }
  });
}

TEST_P(set_outside, a_broken_promise_is_told_to_what_follows) {
  run([] {
    std::optional<promise<int>> p(std::in_place, "the weather");
    auto next = p->get_future().then([](int) { ADD_FAILURE() << "there is no value"; });
    std::thread thread([&p] { p.reset(); });
    try {
      next.get();
      ADD_FAILURE() << "nothing thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::abandoned);
    }
    thread.join();
  });
}

// Dropped continuations of promises that were set before the main task ends.
TEST_P(set_outside, continuations_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      std::vector<promise<int>> some(20);
      for (promise<int>& p : some)
        const auto dropped = p.get_future().then([&ended](int i) {
          for (int k = 0; k < 5; ++k) yield();
          ended += i;
        });
      threads.emplace_back([some = std::move(some)]() mutable {
        for (promise<int>& p : some) p.set_value(1);
      });
    }
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(ended.load(), 60);
}

// The threads go on after the main task: what they begin ends before the pool, also if it waits, or does not begin.
TEST_P(set_outside, a_pool_may_end_beside_them) {
  for (int i = 0; i < rounds(200, 40); ++i) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    run([&] {
      for (int t = 0; t < 2; ++t) {
        std::vector<promise<int>> some(8);
        for (promise<int>& p : some)
          const auto dropped = p.get_future().then([&](int k) {
            ++begun;
            sleep_for(std::chrono::microseconds(50 * k));
            yield();
            ++ended;
          });
        threads.emplace_back([some = std::move(some)]() mutable {
          base::set_log_context({.level = base::log_level::quiet});
          for (std::size_t k = 0; k < some.size(); ++k) some[k].set_value(static_cast<int>(k));
        });
      }
    });
    EXPECT_EQ(begun, ended);
    for (auto& t : threads) t.join();
    EXPECT_EQ(begun, ended);
  }
}

// The coroutine is detached work while it goes on, its continuation is not: the pool's end must not wait for it.
TEST_P(set_outside, a_continuation_follows_a_coroutine) {
  run([] {
    promise<int> p;
    auto next = async([f = p.get_future()]() mutable -> coroutine<int> {
                  co_return 1 + co_await std::move(f);
                }).then([](int i) { return 2 * i; });
    std::thread thread([&p] { p.set_value(20); });
    EXPECT_EQ(next.get(), 42);
    thread.join();
  });  // returns, since nothing is counted any more
}

TEST_P(set_outside, what_another_pool_attaches_runs_there) {
  run([] {
    promise<int> p;
    auto f = p.get_future();
    latch attached(1);
    std::thread thread([&] {
      sched::run_pool(2, [&] {
        auto next = f.then([](int) { return pool_here(); });
        attached.count_down();
        EXPECT_EQ(next.get(), pool_here());
      });
    });
    attached.wait();
    p.set_value(1);
    blocking([&thread] { thread.join(); });
  });
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(set_outside_forked, a_child_has_pools_of_its_own) {
  GTEST_FLAG_SET(death_test_style, "fast");  // forks
  std::optional<promise<int>> of_parent;
  sched::run_pool(
      2, [&of_parent] { const auto dropped = of_parent.emplace().get_future().then([](int) { std::abort(); }); });
  EXPECT_EXIT(
      {
        of_parent->set_value(1);
        int got = 0;
        sched::run_pool(2, [&got] {
          promise<int> p;
          auto next = p.get_future().then([](int i) { return i; });
          std::thread thread([&p] { p.set_value(7); });
          got = next.get();
          thread.join();
        });
        std::_Exit(got);
      },
      testing::ExitedWithCode(7), "does not run");
}
#endif

TEST_P(set_outside, tasks_of_another_pool_hand_over_to_the_first) {
  run([] {
    promise<int> p;
    auto next = p.get_future().then([](int) { return pool_here(); });
    std::thread thread([&p] { sched::run_pool(2, [&p] { p.set_value(1); }); });
    EXPECT_EQ(next.get(), pool_here());
    thread.join();
  });
}

TEST_P(set_outside, after_the_pool_has_ended) {
  std::optional<promise<int>> by_thread;
  std::optional<promise<int>> by_task;
  std::atomic<std::uint64_t> ran_in{0};
  run([&] {
    const auto follow = [&ran_in](promise<int>& p) {
      const auto dropped = p.get_future().then([&ran_in](int) { ran_in = pool_here(); });
    };
    follow(by_thread.emplace());
    follow(by_task.emplace());
  });
  testing::internal::CaptureStderr();
  by_thread->set_value(1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("what was to follow does not run"), std::string::npos);
  EXPECT_EQ(ran_in, 0U);
  run([&] {
    by_task->set_value(1);
    while (ran_in == 0) yield();
    EXPECT_EQ(ran_in, pool_here());
  });
}

}  // namespace
}  // namespace shoal
