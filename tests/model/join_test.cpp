// SPDX-License-Identifier: Apache-2.0
// shoal::detail::completion_count on the simulated memory: the waiter announces how many operations it waits for, done()
// says whom to wake. No wake-up is lost (deadlock), none comes twice or without a sleeper, and the count may go as soon
// as the waiter goes on. Every weaker memory order in its code must fail, and so must counts with other rules.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"
#include "shoal/detail/completion.hpp"

namespace shoal::model {
namespace {

using production = detail::completion_count<int, model_atomics>;

// Blocks even if everything has ended.
struct blocks_without_looking : production {
  bool must_block(int w, std::int64_t n) {
    production::must_block(w, n);
    return true;
  }
};
// Wakes whenever the count is positive afterwards.
struct wakes_when_positive : production {
  int done(std::int64_t n) {
    const std::int64_t before = count_.fetch_add(n, std::memory_order_acq_rel);
    return before <= -k_waiting && before + n > -k_waiting ? waiter_.read() : 0;
  }
};
// Does not expect that more end than are waited for.
struct wakes_at_zero_only : production {
  int done(std::int64_t n) {
    const std::int64_t before = count_.fetch_add(n, std::memory_order_acq_rel);
    return before + n == -k_waiting ? waiter_.read() : 0;
  }
};
// Does not tell a waiter that waits from one that has not come yet.
struct wakes_whoever_does_not_wait : production {
  int done(std::int64_t n) {
    const std::int64_t before = count_.fetch_add(n, std::memory_order_acq_rel);
    const std::int64_t zero = before > -k_waiting / 2 ? 0 : -k_waiting;
    return before < zero && before + n >= zero ? waiter_.read() : 0;
  }
};

constexpr int k_waiter = 1;
constexpr auto k_order = std::memory_order_acq_rel;

template <class Count>
struct table {
  std::optional<Count> counted{std::in_place};
  model_atomic<int> woken{0};  // what the worker's inbox is: the wake itself
  model_plain<int> results[3];

  void done(std::int64_t n = 1) {
    const int waiter = counted->done(n);
    if (waiter == 0) return;
    check(waiter == k_waiter, "whom to wake is known");
    check(woken.fetch_add(1, k_order) == 0, "one wake for each wait");
    woken.futex_wake_one();
  }
  void wait(std::int64_t n) {
    if (counted->must_block(k_waiter, n)) {
      while (woken.load(std::memory_order_acquire) == 0) woken.futex_wait(0);
      woken.store(0, std::memory_order_relaxed);
    }
    counted->end_wait();
  }
};

// The waiter begins `tasks` and waits; `rounds` times, with the same count, as a group may be used again.
template <class Count = production>
scenario joined(int tasks, int rounds) {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    auto gate = std::make_shared<model_atomic<int>>(0);
    run.thread("waiter", [=] {
      for (int r = 1; r <= rounds; ++r) {
        gate->store(r, std::memory_order_release);  // what spawning publishes
        t->wait(tasks);
        for (int i = 0; i < tasks; ++i) check(t->results[i].read() == r, "what the task did is visible");
      }
      t->counted.reset();  // the frame goes: nobody may touch it any more
    });
    for (int i = 0; i < tasks; ++i)
      run.thread("task", [=] {
        for (int r = 1; r <= rounds; ++r) {
          while (gate->load(std::memory_order_acquire) < r) execution::current().give_way();
          t->results[i].write(r);
          t->done();
        }
      });
  };
}

// Each of two workers ends two tasks in one go. The waiter waits for one, then for the others.
template <class Count = production>
scenario joined_in_part() {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    run.thread("waiter", [=] {
      t->wait(1);
      t->wait(3);
      for (int i = 0; i < 2; ++i) check(t->results[i].read() == 1, "what the task did is visible");
      t->counted.reset();
    });
    for (int i = 0; i < 2; ++i)
      run.thread("tasks", [=] {
        t->results[i].write(1);
        t->done(2);
      });
  };
}

// One task begins another one, which a third worker runs; another task of the waiter's ends at any time.
template <class Count = production>
scenario joined_with_a_late_one(bool adds_after_its_own_end = false) {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    auto offered = std::make_shared<model_atomic<int>>(0);
    run.thread("waiter", [=] {
      t->wait(2);
      for (int i = 0; i < 3; ++i) check(t->results[i].read() == 1, "what the task did is visible");
      t->counted.reset();
    });
    run.thread("parent", [=] {
      t->results[0].write(1);
      if (adds_after_its_own_end) {
        offered->store(1, std::memory_order_release);
        t->done();
        if (t->counted) t->counted->add_elsewhere();
        return;
      }
      t->counted->add_elsewhere();
      offered->store(1, std::memory_order_release);
      t->done();
    });
    run.thread("late", [=] {
      while (offered->load(std::memory_order_acquire) == 0) execution::current().give_way();
      t->results[1].write(1);
      t->done();
    });
    run.thread("other", [=] {
      t->results[2].write(1);
      t->done();
    });
  };
}

// The limit of the wait comes at any moment; then the waiter waits again.
template <class Count = production>
scenario joined_after_a_limit() {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    run.thread("waiter", [=] {
      if (t->counted->must_block(k_waiter, 2)) {
        execution::current().give_way();
        if (t->counted->give_up(2)) {
          t->wait(2);
        } else {
          while (t->woken.load(std::memory_order_acquire) == 0) t->woken.futex_wait(0);
          t->counted->end_wait();
        }
      } else {
        t->counted->end_wait();
      }
      for (int i = 0; i < 2; ++i) check(t->results[i].read() == 1, "what the task did is visible");
      t->counted.reset();
    });
    for (int i = 0; i < 2; ++i)
      run.thread("task", [=] {
        t->results[i].write(1);
        t->done();
      });
  };
}
// Does not look whether the wake-up is on its way.
struct gives_up_without_looking : production {
  bool give_up(std::int64_t n) {
    count_.fetch_add(n + k_waiting, std::memory_order_relaxed);
    waiter_.write(0);
    return true;
  }
};

bool fails(const scenario& what) { return explore(what, randomly(40'000)).failed; }

TEST(join, a_task_may_begin_another_one_on_its_worker) {
  const outcome all = explore(joined_with_a_late_one(), systematically(2));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome o = explore(joined_with_a_late_one(), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(fails(joined_with_a_late_one<wakes_whoever_does_not_wait>()));
  EXPECT_TRUE(fails(joined_with_a_late_one(true)));
}

TEST(join, a_wait_for_some_leaves_the_rest) {
  const outcome all = explore(joined_in_part(), systematically(3));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome o = explore(joined_in_part(), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(fails(joined_in_part<wakes_at_zero_only>()));
}

TEST(join, a_wait_may_be_given_up) {
  const outcome all = explore(joined_after_a_limit(), systematically(3));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome o = explore(joined_after_a_limit(), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(fails(joined_after_a_limit<gives_up_without_looking>()));
}

TEST(join, all_executions_of_one_and_two_tasks_with_few_preemptions) {
  for (const int tasks : {1, 2}) {
    const outcome o = explore(joined(tasks, 1), systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(join, no_wake_up_is_lost_and_none_comes_twice) {
  for (const int tasks : {1, 2, 3})
    for (const int rounds : {1, 2}) {
      const outcome o = explore(joined(tasks, rounds), randomly(40'000));
      EXPECT_FALSE(o.failed) << o;
    }
}

TEST(join, other_rules_are_found_out) {
  EXPECT_TRUE(fails(joined<blocks_without_looking>(2, 1)));
  EXPECT_TRUE(fails(joined<wakes_when_positive>(2, 1)));
}

TEST(join, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants({joined(2, 1), joined(2, 2), joined_in_part(), joined_with_a_late_one()},
                                            "completion.hpp", randomly(40'000));
  EXPECT_EQ(mutants.tried, 6U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
