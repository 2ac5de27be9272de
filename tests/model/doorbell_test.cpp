// SPDX-License-Identifier: Apache-2.0
// Model test of the doorbell with a futex: no wake-up is lost. After a lost wake-up the sleeper never wakes, which the
// explorer reports as a deadlock.
#include "lockfree/doorbell.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "lockfree/inbox.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using bell = lockfree::doorbell<model_atomics>;

void wake(bell& b) {
  if (b.ring()) b.word().futex_wake_one();
}

// Sleeps until there is work. `look` must rely only on the doorbell.
template <class Look>
void wait_for(bell& b, const Look& look) {
  while (!look()) {
    b.prepare();
    if (look()) {
      b.cancel();
      return;
    }
    while (b.may_sleep()) b.word().futex_wait(bell::k_announced);
  }
}

// Work is a counter that wakers increment.
scenario counted(int wakers, int each) {
  return [=](execution& run) {
    struct table {
      bell door;
      model_atomic<int> work{0};
    };
    auto t = std::make_shared<table>();
    run.thread("sleeper", [=] {
      for (int wanted = 1; wanted <= wakers * each; ++wanted)
        wait_for(t->door, [&] { return t->work.load(std::memory_order_relaxed) >= wanted; });
    });
    for (int w = 0; w < wakers; ++w)
      run.thread("waker", [=] {
        for (int i = 0; i < each; ++i) {
          t->work.fetch_add(1, std::memory_order_relaxed);
          wake(t->door);
        }
      });
  };
}

// Work is in an inbox, as for workers.
const scenario k_inbox = [](execution& run) {
  struct table {
    bell door;
    lockfree::inbox<model_atomics> tasks;
    lockfree::inbox_node<model_atomics> nodes[4];
  };
  auto t = std::make_shared<table>();
  run.thread("sleeper", [t] {
    for (int taken = 0; taken < 4;) {
      wait_for(t->door, [&] { return !t->tasks.empty(); });
      for (auto* node = t->tasks.take_all(); node != nullptr; ++taken) node = node->next.read();
    }
  });
  for (int w = 0; w < 2; ++w)
    run.thread("waker", [t, w] {
      for (int i = 0; i < 2; ++i) {
        t->tasks.push(&t->nodes[2 * w + i]);
        wake(t->door);
      }
    });
};

// A sleeper that was rung sees the waker's work in any form: here plain data.
const scenario k_rung_means_visible = [](execution& run) {
  struct table {
    bell door;
    model_plain<int> work{0};
  };
  auto t = std::make_shared<table>();
  run.thread("sleeper", [t] {
    t->door.prepare();
    for (int tries = 0; tries < 3; ++tries)
      if (!t->door.may_sleep()) {
        check(t->work.read() == 1, "the work of the ring is there");
        return;
      }
  });
  run.thread("waker", [t] {
    t->work.write(1);
    wake(t->door);
  });
};

// Of several wakers, one is told to wake.
const scenario k_one_of_many = [](execution& run) {
  struct table {
    bell door;
    int told = 0;
  };
  auto t = std::make_shared<table>();
  t->door.prepare();
  for (int w = 0; w < 3; ++w) run.thread("waker", [t] { t->told += t->door.ring() ? 1 : 0; });
  run.finally([t] {
    check(t->told == 1, "one waker of three is told to wake");
    check(!t->door.may_sleep() && !t->door.ring(), "nobody is announced any more");
  });
};

const std::vector<scenario> k_all{counted(1, 2), counted(2, 2),        counted(3, 1),
                                  k_inbox,       k_rung_means_visible, k_one_of_many};

TEST(doorbell, one_waker_all_executions_with_four_preemptions) {
  const outcome o = explore(counted(1, 1), systematically(4));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(doorbell, no_wake_up_is_lost) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(doorbell, a_sleeper_that_does_not_look_again_is_found_out) {
  const scenario careless = [](execution& run) {
    struct table {
      bell door;
      model_atomic<int> work{0};
    };
    auto t = std::make_shared<table>();
    run.thread("sleeper", [t] {
      if (t->work.load(std::memory_order_relaxed) != 0) return;
      t->door.prepare();
      while (t->door.may_sleep()) t->door.word().futex_wait(bell::k_announced);
    });
    run.thread("waker", [t] {
      t->work.store(1, std::memory_order_relaxed);
      wake(t->door);
    });
  };
  const outcome o = explore(careless, systematically(2));
  EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << o;
}

// This mutant survives: the exchange in ring_after_fence(), because the fence before it already releases; race
// detectors that ignore fences need it.
TEST(doorbell, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "doorbell.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 10U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{"ring_after_fence: replace release as relaxed"});
}

}  // namespace
}  // namespace shoal::model
