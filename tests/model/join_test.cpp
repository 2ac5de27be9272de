// SPDX-License-Identifier: Apache-2.0
// The protocol of shoal::detail::join_counter (include/shoal/task.hpp, src/sched/task.cpp) on the simulated memory: the
// waiter counts what it begins without atomics and subtracts it, and a large number, when it waits; whoever ends a task
// adds one, and wakes if that left the large number alone; a task that begins another one subtracts one before it ends.
// No wake-up is lost (deadlock), none comes twice or without a sleeper, and the counter may go as soon as wait()
// returns. The steps are written out again here, since the counter's wait() switches stacks.
#include <atomic>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

enum class mutant {
  none,
  relaxed_end,
  relaxed_wait,
  waits_without_looking,
  wakes_when_positive,
  wakes_at_nought_only,
  wakes_whoever_does_not_wait,
  adds_after_its_own_end
};
constexpr std::int64_t k_waiting = 1000;

struct join {
  model_atomic<std::int64_t> ended{0};
  model_plain<int> waiter{0};  // written by the waiter, read by whoever wakes it
};

struct table {
  std::optional<join> counter{std::in_place};
  model_atomic<int> woken{0};  // what the worker's inbox is: the wake itself
  model_plain<int> results[3];
};

constexpr auto k_order = std::memory_order_acq_rel;

void end(table& t, mutant m, std::int64_t tasks = 1) {
  const auto order = m == mutant::relaxed_end ? std::memory_order_relaxed : k_order;
  const std::int64_t before = t.counter->ended.fetch_add(tasks, order);
  const std::int64_t nought = m == mutant::wakes_whoever_does_not_wait && before > -k_waiting / 2 ? 0 : -k_waiting;
  const std::int64_t after = before + tasks;
  if (m == mutant::wakes_when_positive ? after <= nought || before > nought : before >= nought || after < nought)
    return;
  if (m == mutant::wakes_at_nought_only && after != nought) return;
  check(t.counter->waiter.read() == 1, "whom to wake is known");
  check(t.woken.fetch_add(1, k_order) == 0, "one wake for each wait");
  t.woken.futex_wake_one();
}

void wait(table& t, std::int64_t begun, mutant m) {
  t.counter->waiter.write(1);
  const auto order = m == mutant::relaxed_wait ? std::memory_order_relaxed : k_order;
  const bool all = t.counter->ended.fetch_add(-begun - k_waiting, order) >= begun;
  if (!all || m == mutant::waits_without_looking) {
    while (t.woken.load(std::memory_order_acquire) == 0) t.woken.futex_wait(0);
    t.woken.store(0, std::memory_order_relaxed);
  }
  t.counter->ended.fetch_add(k_waiting, std::memory_order_relaxed);
}

void add_elsewhere(table& t) { t.counter->ended.fetch_add(-1, std::memory_order_relaxed); }

// The waiter begins `tasks` and waits; twice, with the same counter, as a group may be used again.
scenario joined(int tasks, int rounds, mutant m) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    auto gate = std::make_shared<model_atomic<int>>(0);
    run.thread("waiter", [=] {
      for (int r = 1; r <= rounds; ++r) {
        gate->store(r, std::memory_order_release);  // what spawning publishes
        wait(*t, tasks, m);
        for (int i = 0; i < tasks; ++i) check(t->results[i].read() == r, "what the task did is visible");
      }
      t->counter.reset();  // the frame goes: nobody may touch it any more
    });
    for (int i = 0; i < tasks; ++i)
      run.thread("task", [=] {
        for (int r = 1; r <= rounds; ++r) {
          while (gate->load(std::memory_order_acquire) < r) execution::current().give_way();
          t->results[i].write(r);
          end(*t, m);
        }
      });
  };
}

// Each of two workers ends two tasks in one go. The waiter waits for one, then for the others.
scenario joined_in_part(mutant m) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    run.thread("waiter", [=] {
      wait(*t, 1, m);
      wait(*t, 3, m);
      for (int i = 0; i < 2; ++i) check(t->results[i].read() == 1, "what the task did is visible");
      t->counter.reset();
    });
    for (int i = 0; i < 2; ++i)
      run.thread("tasks", [=] {
        t->results[i].write(1);
        end(*t, m, 2);
      });
  };
}

// One task begins another one, which a third worker runs; another task of the waiter's ends at any time.
scenario joined_with_a_late_one(mutant m) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    auto offered = std::make_shared<model_atomic<int>>(0);
    run.thread("waiter", [=] {
      wait(*t, 2, m);
      for (int i = 0; i < 3; ++i) check(t->results[i].read() == 1, "what the task did is visible");
      t->counter.reset();
    });
    run.thread("parent", [=] {
      t->results[0].write(1);
      if (m == mutant::adds_after_its_own_end) {
        offered->store(1, std::memory_order_release);
        end(*t, m);
        if (t->counter) add_elsewhere(*t);
        return;
      }
      add_elsewhere(*t);
      offered->store(1, std::memory_order_release);
      end(*t, m);
    });
    run.thread("late", [=] {
      while (offered->load(std::memory_order_acquire) == 0) execution::current().give_way();
      t->results[1].write(1);
      end(*t, m);
    });
    run.thread("other", [=] {
      t->results[2].write(1);
      end(*t, m);
    });
  };
}

TEST(join, a_task_may_begin_another_one_on_its_worker) {
  const outcome all = explore(joined_with_a_late_one(mutant::none), systematically(2));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome o = explore(joined_with_a_late_one(mutant::none), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
  for (const mutant m :
       {mutant::relaxed_end, mutant::relaxed_wait, mutant::wakes_whoever_does_not_wait, mutant::adds_after_its_own_end})
    EXPECT_TRUE(explore(joined_with_a_late_one(m), randomly(40'000)).failed) << static_cast<int>(m);
}

TEST(join, a_wait_for_some_leaves_the_rest) {
  const outcome all = explore(joined_in_part(mutant::none), systematically(3));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome o = explore(joined_in_part(mutant::none), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
  for (const mutant m : {mutant::relaxed_end, mutant::relaxed_wait, mutant::wakes_at_nought_only})
    EXPECT_TRUE(explore(joined_in_part(m), randomly(40'000)).failed) << static_cast<int>(m);
}

TEST(join, all_executions_of_one_and_two_tasks_with_few_preemptions) {
  for (const int tasks : {1, 2}) {
    const outcome o = explore(joined(tasks, 1, mutant::none), systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(join, no_wake_up_is_lost_and_none_comes_twice) {
  for (const int tasks : {1, 2, 3})
    for (const int rounds : {1, 2}) {
      const outcome o = explore(joined(tasks, rounds, mutant::none), randomly(40'000));
      EXPECT_FALSE(o.failed) << o;
    }
}

TEST(join, weaker_protocols_are_found_out) {
  for (const mutant m :
       {mutant::relaxed_end, mutant::relaxed_wait, mutant::waits_without_looking, mutant::wakes_when_positive}) {
    const bool found =
        explore(joined(2, 1, m), randomly(40'000)).failed || explore(joined(2, 2, m), randomly(40'000)).failed;
    EXPECT_TRUE(found) << static_cast<int>(m);
  }
}

}  // namespace
}  // namespace shoal::model
