// SPDX-License-Identifier: Apache-2.0
// The notification of an activity on the simulated memory, with a futex: none is lost, and the tick that it makes begin
// sees what was published. A lost one is a sleeper that nobody will wake, which the explorer reports as a deadlock.
#include "machine/notification.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using notification = machine::notification<model_atomics>;

void notify(notification& n) {
  if (n.set()) n.word().futex_wake_one();
}

// The loop of activity_thread: until a tick has said that it is the last.
template <class Tick>
void run(notification& n, const Tick& tick) {
  for (;;) {
    n.clear();
    if (tick()) return;
    if (n.prepare()) n.word().futex_wait(notification::k_asleep);
  }
}

// Work is a counter that notifiers raise.
scenario counted(int notifiers, int each) {
  return [=](execution& run_of) {
    struct table {
      notification told;
      model_atomic<int> work{0};
    };
    auto t = std::make_shared<table>();
    run_of.thread("activity",
                  [=] { run(t->told, [&] { return t->work.load(std::memory_order_relaxed) == notifiers * each; }); });
    for (int w = 0; w < notifiers; ++w)
      run_of.thread("notifier", [=] {
        for (int i = 0; i < each; ++i) {
          t->work.fetch_add(1, std::memory_order_relaxed);
          notify(t->told);
        }
      });
  };
}

// What a flag says of plain data: the flag is relaxed, so only the notification orders the two.
const scenario k_published = [](execution& run_of) {
  struct table {
    notification told;
    model_plain<int> work{0};
    model_atomic<int> there{0};
  };
  auto t = std::make_shared<table>();
  run_of.thread("activity", [t] {
    for (int ticks = 0; ticks < 3; ++ticks) {
      const bool was_set = t->told.word().load(std::memory_order_relaxed) == notification::k_set;
      t->told.clear();
      if (!was_set) continue;
      check(t->work.read() == 1, "a tick that begins after set() sees the work");
      return;
    }
  });
  run_of.thread("notifier", [t] {
    t->work.write(1);
    notify(t->told);
  });
};

const std::vector<scenario> k_all{counted(1, 2), counted(2, 2), counted(3, 1), k_published};

TEST(notification, one_notifier_all_executions_with_four_preemptions) {
  const outcome o = explore(counted(1, 1), systematically(4));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(notification, none_is_lost) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

// Without the exchange in clear() a notification between tick and sleep is overwritten.
TEST(notification, a_sleeper_that_clears_after_its_tick_is_found_out) {
  const scenario careless = [](execution& run_of) {
    struct table {
      notification told;
      model_atomic<int> work{0};
    };
    auto t = std::make_shared<table>();
    run_of.thread("activity", [t] {
      while (t->work.load(std::memory_order_relaxed) == 0) {
        t->told.clear();
        if (t->told.prepare()) t->told.word().futex_wait(notification::k_asleep);
      }
    });
    run_of.thread("notifier", [t] {
      t->work.store(1, std::memory_order_relaxed);
      notify(t->told);
    });
  };
  const outcome o = explore(careless, systematically(3));
  EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << o;
}

TEST(notification, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "notification.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 2U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
