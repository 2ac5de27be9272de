// SPDX-License-Identifier: Apache-2.0
#include "sched/wait_survey.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "pool_run.hpp"
#include "sched/stillness.hpp"
#include "shoal/future.hpp"
#include "shoal/locks.hpp"
#include "shoal/loop.hpp"
#include "shoal/movable.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_lock.hpp"

namespace shoal::sched {
namespace {

using detail::wait_kind;

// A pool whose tasks wait, looked at by a thread from outside, and released by a promise.
struct watched {
  explicit watched(unsigned workers) : pool(options_of(workers)) {}
  static pool_options options_of(unsigned workers) {
    pool_options o;
    o.workers = workers;
    o.most_stacks = std::size_t{1} << 14;
    return o;
  }
  stillness wait_until_still() {
    for (;;) {
      const stillness s = look_at(pool);
      if (s.still) return s;
      std::this_thread::yield();
    }
  }
  wait_survey survey() { return take_wait_survey(pool, 100, 10'000'000'000); }

  sched::pool pool;
};

const waiting_task* find(const wait_survey& s, wait_kind why) {
  const auto at = std::ranges::find(s.tasks, why, &waiting_task::why);
  return at != s.tasks.end() ? &*at : nullptr;
}

TEST(wait_survey, lists_each_wait_with_its_object_and_holder) {
  for (const unsigned workers : {1U, 3U}) {
    watched w(workers);
    mutex m;
    semaphore s(0);
    std::atomic<promise<void>*> end{nullptr};
    std::thread outside([&] {
      while (end.load() == nullptr) std::this_thread::yield();
      const stillness still = w.wait_until_still();
      EXPECT_EQ(still.outside, 1U);
      EXPECT_FALSE(still.starved);
      EXPECT_FALSE(still.holds_back);
      const wait_survey found = w.survey();
      EXPECT_TRUE(found.silent.empty());
      EXPECT_EQ(found.waiting, 4U);
      const waiting_task* const for_mutex = find(found, wait_kind::mutex);
      const waiting_task* const for_promise = find(found, wait_kind::promise);
      const waiting_task* const for_semaphore = find(found, wait_kind::semaphore);
      const waiting_task* const for_children = find(found, wait_kind::children);
      EXPECT_TRUE(for_mutex && for_promise && for_semaphore && for_children);
      if (!for_mutex || !for_promise || !for_semaphore || !for_children) return end.load()->set_value();
      EXPECT_EQ(for_mutex->object, &m);
      EXPECT_EQ(for_mutex->held_by, for_promise->stack);
      EXPECT_EQ(for_promise->awaited, "end");
      EXPECT_EQ(for_semaphore->object, &s);
      EXPECT_EQ(for_children->missing, 3);
      EXPECT_EQ(for_children->code, nullptr);
      EXPECT_NE(for_mutex->code, for_semaphore->code);
      EXPECT_LT(for_mutex->waited_ns, 60'000'000'000U);
      EXPECT_TRUE(w.wait_until_still().version > still.version);  // the survey has woken them
      end.load()->set_value();
    });
    w.pool.run([&] {
      promise<void> p("end");
      auto ended = p.get_future();
      task_group group;
      latch held(1);
      group.run([&] {
        const std::lock_guard hold(m);
        held.count_down();
        ended.get();
        s.release();
      });
      group.run([&] {
        held.wait();
        const std::lock_guard hold(m);
      });
      group.run([&] { s.acquire(); });
      for (int i = 0; i < 3; ++i) yield();  // they begin on stacks of their own
      end.store(&p);
      group.wait();
    });
    outside.join();
  }
}

TEST(wait_survey, lists_movable_tasks_that_may_go_on_anywhere_and_those_that_stay) {
  for (const unsigned workers : {1U, 3U}) {
    watched w(workers);
    mutex m;
    std::atomic<promise<void>*> end{nullptr}, again{nullptr};
    std::thread outside([&] {
      while (end.load() == nullptr) std::this_thread::yield();
      EXPECT_EQ(w.wait_until_still().outside, 1U);
      const wait_survey found = w.survey();
      EXPECT_EQ(found.waiting, 4U);
      const waiting_task* const for_mutex = find(found, wait_kind::mutex);
      const waiting_task* const for_promise = find(found, wait_kind::promise);
      const waiting_task* const that_stays = find(found, wait_kind::transfer);
      EXPECT_TRUE(for_mutex && for_promise && that_stays && find(found, wait_kind::children));
      if (for_mutex && for_promise && that_stays) {
        EXPECT_EQ(for_mutex->object, &m);
        EXPECT_EQ(for_mutex->held_by, for_promise->stack);
        EXPECT_EQ(for_promise->awaited, "end");
        EXPECT_NE(for_mutex->code, that_stays->code);
      }
      end.load()->set_value();
      while (again.load() == nullptr) std::this_thread::yield();
      EXPECT_EQ(w.wait_until_still().outside, 1U);  // the main task's: the others have been taken back
      again.load()->set_value();
    });
    w.pool.run([&] {
      promise<void> p("end");
      auto ended = p.get_future();
      task_group group;
      latch held(1);
      std::atomic<detail::suspended*> stays{nullptr};
      group.run(movable, [&] {
        while (stays.load() == nullptr) yield();
        const std::lock_guard hold(m);
        held.count_down();
        ended.get();
        detail::wake(stays);
      });
      group.run(movable, [&] {
        held.wait();
        const std::lock_guard hold(m);
      });
      group.run(movable, [&] {
        yield();
        stays = detail::this_task();
        detail::leave(wait_kind::transfer);
      });
      for (int i = 0; i < 3; ++i) yield();
      end.store(&p);
      group.wait();
      promise<void> q;
      auto last = q.get_future();
      again.store(&q);
      last.get();
    });
    outside.join();
  }
}

// A task that is woken while its worker reads its stack is published by that worker.
TEST(wait_survey, loses_no_movable_task_that_is_woken_meanwhile) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    watched w(workers);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> seen{0};
    std::thread outside([&] {
      while (!over.load()) {
        const wait_survey found = w.survey();
        for (const waiting_task& t : found.tasks) {
          EXPECT_TRUE(t.why == wait_kind::semaphore || t.why == wait_kind::mutex || t.why == wait_kind::children);
          if (t.why == wait_kind::semaphore) ++seen;
        }
      }
    });
    constexpr int k_tasks = 30, k_waits = 300, k_wakers = 3;
    int ended = 0;
    w.pool.run([&] {
      mutex m;
      semaphore go(0);
      std::atomic<int> begun{0};
      task_group group;
      for (int i = 0; i < k_tasks; ++i)
        group.run(movable, [&] {
          ++begun;
          for (int k = 0; k < k_waits; ++k) {
            go.acquire();
            const std::lock_guard hold(m);
            ++ended;
          }
        });
      while (begun.load() < k_tasks || seen.load() == 0) yield();
      task_group wakers;
      for (int i = 0; i < k_wakers; ++i)
        wakers.run([&] {
          for (int k = 0; k < k_tasks * k_waits / k_wakers; ++k) {
            go.release();
            yield();
          }
        });
      wakers.wait();
      group.wait();
    });
    over = true;
    outside.join();
    EXPECT_EQ(ended, k_tasks * k_waits);
  }
}

TEST(wait_survey, says_which_workers_are_busy_and_describes_only_as_many_as_asked) {
  watched w(2);
  std::atomic<int> waiting{0};
  std::atomic<bool> stop{false};
  std::thread outside([&] {
    while (waiting.load() != 50) std::this_thread::yield();
    const wait_survey found = take_wait_survey(w.pool, 10, 200'000'000);
    EXPECT_GT(found.took_ns, 0U);
    EXPECT_EQ(found.silent.size(), 1U);  // the one that runs the main task
    stop = true;
  });
  w.pool.run([&] {
    latch l(1);
    task_group group;
    for (int i = 0; i < 50; ++i)
      group.run([&] {
        ++waiting;
        l.wait();
      });
    while (!stop.load()) poll();
    l.count_down();
    group.wait();
  });
  outside.join();
}

TEST(stillness, is_none_while_a_task_runs_or_can_run) {
  for (const unsigned workers : {1U, 4U}) {
    watched w(workers);
    std::atomic<bool> over{false};
    std::atomic<int> found{0};
    std::thread outside([&] {
      while (!over.load())
        if (look_at(w.pool).still) ++found;
    });
    w.pool.run([&] {
      for (int round = 0; round < 300; ++round) {
        parallel_for(0, 100, [](int) { yield(); });
        future<int> f = async([] { return 1; });
        task_group group;
        for (int i = 0; i < 20; ++i) group.run([] { yield(); });
        group.wait();
        f.get();
      }
      over = true;
    });
    outside.join();
    EXPECT_EQ(found.load(), 0);
  }
}

template <class Lock>
class waits_for_locks : public testing::Test {};
using surveyed_locks =
    testing::Types<tas_lock<task_wait>, ticket_lock<task_wait>, priority_lock<task_wait>, mcs_lock<task_wait>,
                   clh_lock<task_wait>, hierarchical_lock<task_wait>, bounded_lock<task_wait>, message_lock<task_wait>>;
TYPED_TEST_SUITE(waits_for_locks, surveyed_locks);

// Also of locks that are made of others.
TYPED_TEST(waits_for_locks, name_the_lock) {
  watched w(1);
  TypeParam lock;
  std::atomic<promise<void>*> end{nullptr};
  std::thread outside([&] {
    while (end.load() == nullptr) std::this_thread::yield();
    w.wait_until_still();
    const wait_survey found = w.survey();
    const waiting_task* const waits = find(found, wait_kind::lock);
    EXPECT_NE(waits, nullptr);
    if (waits != nullptr) {
      // Or a part of it: the queue of a bounded lock.
      const auto place = reinterpret_cast<std::uintptr_t>(waits->object) - reinterpret_cast<std::uintptr_t>(&lock);
      EXPECT_LT(place, sizeof lock);
    }
    end.load()->set_value();
  });
  w.pool.run([&] {
    promise<void> done;
    future<void> ended = done.get_future();
    lock.lock();
    task_group group;
    group.run([&] {
      lock.lock();
      lock.unlock();
    });
    yield();
    end.store(&done);
    ended.wait();
    lock.unlock();
    group.wait();
  });
  outside.join();
}

}  // namespace
}  // namespace shoal::sched
