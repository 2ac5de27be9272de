// SPDX-License-Identifier: Apache-2.0
#include "shoal/movable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_lock.hpp"
#include "unit/sched/moves.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

using movables = sched::on_workers;
INSTANTIATE_TEST_SUITE_P(workers, movables, sched::one_two_or_four_workers(), sched::name_of_workers);

// Runs `begin(started, waits)` for tasks that count in `started` and then wait by `waits()`, until some have begun on
// worker 0; makes them runnable; and keeps worker 0 busy until all have ended: so the other worker has taken them.
template <class Begin, class Open>
void move_all(Begin begin, Open open) {
  std::atomic<int> started{0}, started_here{0}, ended{0};
  const unsigned main_worker = sched::worker_index();
  int begun = 0;
  while (begun < 20 || started_here.load() == 0) {
    begin([&](auto wait) {
      if (sched::worker_index() == main_worker) ++started_here;
      ++started;
      wait();
      ++ended;
    });
    ++begun;
    sched::await(started, begun);
  }
  open(begun);
  while (ended.load() < begun) std::this_thread::yield();
}

#if defined(__x86_64__)
TEST(movable_tasks, continue_on_an_idle_worker_while_their_own_is_busy) {
  sched::run_pool(2, [] {
    task_group group;
    semaphore go(0);
    move_all([&](auto body) { group.run(movable, [&go, body] { body([&go] { go.acquire(); }); }); },
             [&go](int begun) { go.release(begun); });
    group.wait();
  });
}

TEST(movable_tasks, continue_elsewhere_after_a_latch_a_condition_and_a_mutex) {
  sched::run_pool(2, [] {
    task_group group;
    latch open(1);
    move_all([&](auto body) { group.run(movable, [&open, body] { body([&open] { open.wait(); }); }); },
             [&open](int) { open.count_down(); });
    mutex lock;
    condition_variable changed;
    bool set = false;
    move_all(
        [&](auto body) {
          group.run(movable, [&, body] {
            body([&] {
              std::unique_lock hold(lock);
              changed.wait(hold, [&set] { return set; });
            });
          });
        },
        [&](int) {
          const std::lock_guard hold(lock);
          set = true;
          changed.notify_all();
        });
    group.wait();
  });
}

TEST(movable_tasks, continue_elsewhere_after_waits_for_futures_and_groups) {
  sched::run_pool(2, [] {
    std::vector<future<void>> tasks;
    std::vector<std::unique_ptr<promise<int>>> promises;
    move_all(
        [&](auto body) {
          promises.push_back(std::make_unique<promise<int>>());
          auto value = std::make_shared<future<int>>(promises.back()->get_future());
          tasks.push_back(async(movable, [value, body] { body([&value] { EXPECT_EQ(value->get(), 3); }); }));
        },
        [&](int) {
          for (auto& p : promises) p->set_value(3);
        });
    task_group group;
    semaphore go(0);
    move_all(
        [&](auto body) {
          group.run(movable, [&go, body] {
            body([&go] {
              task_group inner;
              inner.run(movable, [&go] { go.acquire(); });
              inner.wait();
            });
          });
        },
        [&go](int begun) { go.release(begun); });
    group.wait();
  });
}
#endif

TEST_P(movables, give_values_and_exceptions) {
  run([] {
    EXPECT_EQ(async(movable, [] { return 7; }).get(), 7);
    EXPECT_EQ(async("named", movable, [] { return std::string(100, 'x'); }).get(), std::string(100, 'x'));
    auto thrown = async(movable, []() -> int { throw std::runtime_error("thrown by a movable task"); });
    EXPECT_THROW(thrown.get(), std::runtime_error);
    task_group group;
    group.run(movable, [] { throw std::logic_error("thrown by a child"); });
    EXPECT_THROW(group.wait(), std::logic_error);
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) group.run(movable, [&ran] { ++ran; });
    group.wait();
    EXPECT_EQ(ran.load(), 1000);
  });
}

std::uint64_t movable_fib(unsigned n) {
  if (n < 2) return n;
  auto a = async(movable, [n] { return movable_fib(n - 1); });
  std::uint64_t b = 0;
  task_group group;
  group.run(movable, [&b, n] { b = movable_fib(n - 2); });
  group.wait();
  return a.get() + b;
}

TEST_P(movables, nest) {
  run([] { EXPECT_EQ(movable_fib(14), 377U); });
}

// The task moves while its group has children, which add children from the worker where it began.
TEST_P(movables, wait_for_groups_that_they_began_on_another_worker) {
  run([] {
    std::atomic<int> ran{0};
    task_group all;
    semaphore go(0);
    for (int i = 0; i < 50; ++i)
      all.run(movable, [&] {
        task_group inner;
        for (int k = 0; k < 3; ++k)
          inner.run([&ran, &inner] {
            for (int more = 0; more < 5; ++more) {
              yield();
              inner.run([&ran] { ++ran; });
            }
          });
        go.acquire();
        inner.run([&ran] { ++ran; });
        inner.wait();
      });
    for (int i = 0; i < 50; ++i) {
      yield();
      go.release();
    }
    all.wait();
    EXPECT_EQ(ran.load(), 50 * 16);
  });
}

// What runs on the stack of a movable task without being declared movable stays where it began.
TEST_P(movables, run_loops_and_continuations_that_stay) {
  run([] {
    std::atomic<int> waited{0}, moved{0};
    semaphore go(0);
    mutex lock;
    const auto stays = [&] {
      const unsigned before = sched::worker_index();
      yield();
      const std::lock_guard hold(lock);
      if (sched::worker_index() != before) ++moved;
      ++waited;
    };
    task_group group;
    for (int i = 0; i < 20; ++i)
      group.run(movable, [&] {
        go.acquire();
        parallel_for(0, 20, [&](int) { stays(); });
        go.acquire();
        task_group children;
        for (int k = 0; k < 5; ++k) children.run(stays);
        children.wait();
        async(movable, [&go] { go.acquire(); }).then(stays).get();
        call_with_stack(stack_bytes(200'000), stays);
      });
    for (int i = 0; i < 60; ++i) {
      yield();
      go.release();
    }
    group.wait();
    EXPECT_EQ(waited.load(), 20 * 27);
    EXPECT_EQ(moved.load(), 0);
  });
}

TEST_P(movables, keep_exceptions_in_flight_and_locks_over_waits) {
  run([] {
    mutex lock;
    semaphore go(0);
    std::atomic<int> right{0};
    task_group group;
    for (int i = 0; i < 100; ++i)
      group.run(movable, [&, i] {
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (const std::exception&) {
          go.acquire();
          const std::lock_guard hold(lock);
          async(movable, [] { yield(); }).get();
          try {
            throw;
          } catch (const std::exception& e) {
            if (e.what() == std::to_string(i)) ++right;
          }
        }
      });
    for (int i = 0; i < 100; ++i) {
      if (i % 3 == 0) yield();
      go.release();
    }
    group.wait();
    EXPECT_EQ(right.load(), 100);
  });
}

TEST_P(movables, hold_a_task_lock_over_waits_after_which_they_may_have_moved) {
  run([] {
    constexpr int k_tasks = 200;
    task_lock<> lock;
    semaphore go(0);
    int counted = 0;
    task_group group;
    for (int i = 0; i < k_tasks; ++i)
      group.run(movable, [&] {
        for (int k = 0; k < 5; ++k) {
          lock.lock();
          const int before = counted;
          go.acquire();
          counted = before + 1;
          lock.unlock();
        }
      });
    for (int i = 0; i < 5 * k_tasks; ++i) {
      if (i % 3 == 0) yield();
      go.release();
    }
    group.wait();
    EXPECT_EQ(counted, 5 * k_tasks);
  });
}

TEST_P(movables, are_woken_by_threads) {
  run([] {
    for (int round = 0; round < 50; ++round) {
      promise<int> p;
      auto f = async(movable, [value = std::make_shared<future<int>>(p.get_future())] { return value->get(); });
      std::thread setter([&p, round] { p.set_value(round); });
      EXPECT_EQ(f.get(), round);
      while (!setter.joinable()) yield();
      setter.join();
    }
  });
}

TEST_P(movables, run_where_they_are_if_no_stack_is_left) {
  sched::pool_options options;
  options.workers = GetParam();
  options.most_stacks = 1;
  sched::pool p(options);
  std::atomic<int> ended{0};
  p.run([&ended] {
    semaphore go(0);
    task_group group;
    for (int i = 0; i < 20; ++i)
      group.run(movable, [&ended] {
        yield();
        ++ended;
      });
    group.wait();
  });
  EXPECT_EQ(ended.load(), 20);
}

}  // namespace
}  // namespace shoal
