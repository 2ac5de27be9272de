// SPDX-License-Identifier: Apache-2.0
// lockfree::detached_count on the simulated memory: a task begins work that nobody waits for, the work begins more of it,
// and at the end one task waits for all. It continues when all has ended and not before, whatever ends while it comes to
// wait; it sees what was written; and the count may go as soon as it goes on.
#include "lockfree/detached_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using production = lockfree::detached_count<int, model_atomics>;

// Waits without looking whether anything is outstanding.
struct blocks_without_looking : production {
  bool must_block(int w, std::uint32_t* begun) {
    waiter_.write(w);
    if (production::must_block(w, begun)) return true;
    word_.fetch_or(k_waits, std::memory_order_acq_rel);
    return true;
  }
};
// Looks, and says that it waits only afterwards.
struct announces_late : production {
  bool must_block(int w, std::uint32_t* begun) {
    waiter_.write(w);
    *begun = 0;
    if ((word_.load(std::memory_order_acquire) & k_outstanding) == 0) return false;
    word_.fetch_or(k_waits, std::memory_order_acq_rel);
    return true;
  }
};
// Any end wakes the waiter, which does not look again.
struct wakes_for_each : production {
  int end() {
    const std::uint64_t before = word_.fetch_add(0 - k_one, std::memory_order_acq_rel);
    return (before & k_waits) != 0 ? waiter_.read() : 0;
  }
};

constexpr int k_waiter = 1;

template <class Count>
struct table {
  std::optional<Count> count{std::in_place};
  model_atomic<int> woken{0};  // what the worker's inbox is: the wake itself
  std::array<model_plain<int>, 4> results;

  void end() {
    const int waiter = count->end();
    if (waiter == 0) return;
    check(waiter == k_waiter, "whom to wake is known");
    check(woken.fetch_add(1, std::memory_order_acq_rel) == 0, "one wake for each wait");
    woken.futex_wake_one();
  }
  // pool::wait_for_detached()
  std::uint32_t wait() {
    std::uint32_t begun = 0;
    while (count->must_block(k_waiter, &begun)) {
      while (woken.load(std::memory_order_acquire) == 0) woken.futex_wait(0);
      woken.store(0, std::memory_order_relaxed);
    }
    return begun;
  }
};

// The main task begins `tasks` continuations; the first of them begins one more if `chained`. Then it waits.
template <class Count = production>
scenario dropped(unsigned tasks, bool chained) {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    auto offered = std::make_shared<model_atomic<unsigned>>(0);
    auto next = std::make_shared<model_atomic<int>>(0);
    run.thread("main", [=] {
      for (unsigned i = 1; i <= tasks; ++i) {
        t->count->begin();
        offered->store(i, std::memory_order_release);  // what spawning publishes
      }
      check(t->wait() == tasks + (chained ? 1 : 0), "how many had begun");
      for (unsigned i = 0; i < tasks; ++i) check(t->results[i].read() == 1, "what the work did is visible");
      if (chained) check(t->results[3].read() == 1, "what the next work did is visible");
      t->count.reset();
    });
    for (unsigned i = 0; i < tasks; ++i)
      run.thread("work", [=] {
        while (offered->load(std::memory_order_acquire) <= i) execution::current().give_way();
        t->results[i].write(1);
        if (chained && i == 0) {
          t->count->begin();
          next->store(1, std::memory_order_release);
        }
        t->end();
      });
    if (!chained) return;
    run.thread("next work", [=] {
      while (next->load(std::memory_order_acquire) == 0) execution::current().give_way();
      t->results[3].write(1);
      t->end();
    });
  };
}

// A message begins work while the task waits for other work: it is woken once for each time that it blocks.
template <class Count = production>
scenario caused_by_a_message() {
  return [=](execution& run) {
    auto t = std::make_shared<table<Count>>();
    t->count->begin();
    run.thread("waiter", [=] { t->wait(); });
    run.thread("work", [=] { t->end(); });
    run.thread("handler", [=] {
      t->count->begin();
      t->end();
    });
  };
}

bool fails(const scenario& what) { return explore(what, randomly(20'000)).failed; }

TEST(detached_count, all_executions_of_one_and_two_with_few_preemptions) {
  for (const unsigned tasks : {1U, 2U}) {
    const outcome o = explore(dropped(tasks, false), systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(detached_count, no_wake_up_is_lost_and_none_comes_early) {
  for (const scenario& each : {dropped(1, true), dropped(2, true), dropped(3, false), caused_by_a_message()}) {
    const outcome o = explore(each, randomly(20'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(detached_count, other_rules_are_found_out) {
  EXPECT_TRUE(fails(dropped<blocks_without_looking>(1, false)));
  EXPECT_TRUE(fails(dropped<announces_late>(1, false)));
  EXPECT_TRUE(fails(dropped<wakes_for_each>(2, false)));
}

TEST(detached_count, every_weaker_order_is_found_out) {
  const mutant_report mutants =
      try_mutants({dropped(1, false), dropped(2, false), dropped(2, true)}, "detached_count.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 5U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
