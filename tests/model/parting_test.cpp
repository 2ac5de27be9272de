// SPDX-License-Identifier: Apache-2.0
// lockfree::parting on the simulated memory: a task waits, on a stack that its worker then leaves; a waker wakes it at any
// time after it is known to wait; a thief continues it if it was published, else the worker that left it does. Another
// thread reads the stack while the task waits.
#include "lockfree/parting.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using production = lockfree::parting<model_atomics>;

// The waker publishes the task whether or not its stack has been left.
struct publishes_at_once : production {
  bool wake() {
    production::wake();
    return true;
  }
};
// The worker that has left does not look whether the task was woken.
struct leaves_without_looking : production {
  bool leave() {
    production::leave();
    return true;
  }
};

// Who has looked does not publish the task that was woken meanwhile.
struct looks_only : production {
  bool end_look() {
    production::end_look();
    return true;
  }
};
// Who looks does not keep others off.
struct looks_at_any_time : production {
  bool look() { return true; }
  bool end_look() { return true; }
};

template <class Parting>
struct table {
  Parting parting;
  model_plain<int> stack{0};       // as it was left last
  model_plain<int> result{0};      // what the task waits for
  model_atomic<int> known{0};      // waits that wakers know of
  model_atomic<int> published{0};  // what deques are for
  model_atomic<int> continued{0};

  // The wait no. `wait` is over.
  void go_on(int wait) {
    check(stack.read() == wait, "the stack has been left");
    check(result.read() == wait, "what the waker wrote is visible");
    parting.arrive();
    continued.store(wait, std::memory_order_release);
  }
  void await(model_atomic<int>& word, int value) {
    while (word.load(std::memory_order_acquire) < value) execution::current().give_way();
  }
};

// The task waits `waits` times; it begins each wait on the first worker, for whichever of the two continues it.
template <class Parting>
void play_wait(execution& run, const std::shared_ptr<table<Parting>>& t, int waits) {
  run.thread("worker", [=] {
    for (int wait = 1; wait <= waits; ++wait) {
      t->known.store(wait, std::memory_order_release);
      t->stack.write(wait);
      if (!t->parting.leave()) {
        t->go_on(wait);
        t->published.store(wait, std::memory_order_relaxed);  // for the thief: nothing comes
      }
      t->await(t->continued, wait);
    }
  });
  run.thread("waker", [=] {
    for (int wait = 1; wait <= waits; ++wait) {
      t->await(t->known, wait);
      t->result.write(wait);
      if (t->parting.wake()) t->published.store(-wait, std::memory_order_release);
      t->await(t->continued, wait);
    }
  });
  run.thread("thief", [=] {
    for (int wait = 1; wait <= waits; ++wait) {
      int seen = 0;
      while ((seen = t->published.load(std::memory_order_acquire)) < wait && seen > -wait)
        execution::current().give_way();
      if (seen == -wait) t->go_on(wait);
    }
  });
}

template <class Parting = production>
scenario left(int waits) {
  return [=](execution& run) { play_wait(run, std::make_shared<table<Parting>>(), waits); };
}

// The same beside a thread that looks at the task.
template <class Parting = production>
scenario looked_at(int waits, int looks) {
  return [=](execution& run) {
    auto t = std::make_shared<table<Parting>>();
    play_wait(run, t, waits);
    run.thread("reader", [=] {
      for (int i = 0; i < looks; ++i) {
        if (!t->parting.look()) continue;
        const int wait = t->stack.read();
        if (!t->parting.end_look()) t->published.store(-wait, std::memory_order_release);
      }
    });
  };
}

TEST(parting, all_executions_of_one_wait) {
  const outcome o = explore(left(1), systematically(4));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(parting, of_several_waits) {
  const outcome o = explore(left(3), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
}

TEST(parting, beside_a_reader) {
  const outcome o = explore(looked_at(2, 3), randomly(40'000));
  EXPECT_FALSE(o.failed) << o;
}

TEST(parting, other_rules_are_found_out) {
  EXPECT_TRUE(explore(looked_at<looks_only>(1, 2), randomly(20'000)).failed);
  EXPECT_TRUE(explore(looked_at<looks_at_any_time>(2, 2), randomly(20'000)).failed);
  EXPECT_TRUE(explore(left<publishes_at_once>(1), randomly(20'000)).failed);
  EXPECT_TRUE(explore(left<leaves_without_looking>(1), randomly(20'000)).failed);
}

TEST(parting, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants({left(1), left(2), looked_at(2, 2)}, "parting.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 6U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
