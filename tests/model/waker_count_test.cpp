// SPDX-License-Identifier: Apache-2.0
// The wakers of a pool from outside on the simulated memory, with the real inbox and doorbell: a waker enters, publishes
// a runnable task, rings, and leaves; the worker runs the tasks and parks in between; when all have run, the owner waits
// for the wakers and destroys the pool. No waker touches what has been destroyed, and nobody waits without end.
#include "lockfree/waker_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lockfree/doorbell.hpp"
#include "lockfree/inbox.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using waker_count = lockfree::waker_count<model_atomics>;
using doorbell = lockfree::doorbell<model_atomics>;

// The count as it would be without a count.
struct counts_nothing : waker_count {
  void enter() {}
  bool leave() { return false; }
};
// It enters when the task may already have run.
struct enters_late : waker_count {
  void enter() {}
  void enter_late() { waker_count::enter(); }
};

template <class Count>
struct table {
  Count wakers;
  lockfree::inbox<model_atomics> woken;
  doorbell bell;
  std::array<lockfree::inbox_node<model_atomics>, 3> tasks;
  model_plain<int> pool{1};  // the memory of all of the above but the count, which tells of accesses after its end

  // worker::make_ready() and ring(), of a thread that is no worker of the pool.
  void wake(std::size_t task) {
    wakers.enter();
    const bool was_empty = woken.push(&tasks[task]);
    if constexpr (requires { wakers.enter_late(); }) wakers.enter_late();
    check(pool.read() == 1, "the pool exists while a waker is inside");
    if (was_empty && bell.ring()) bell.word().futex_wake_one();
    const std::size_t word = wakers.word().number();
    if (wakers.leave()) execution::current().futex_wake_one(word, source_place::current());
  }
  // The worker, and then pool::finish().
  void run(std::size_t expected) {
    for (std::size_t ran = 0; ran < expected;) {
      auto* node = woken.take_all();
      for (; node != nullptr; node = node->next.read()) ++ran;
      if (ran == expected) break;
      bell.prepare();
      if (!woken.empty())
        bell.cancel();
      else
        while (bell.may_sleep()) bell.word().futex_wait(doorbell::k_announced);
    }
    for (std::uint32_t seen = wakers.close(); waker_count::waits_for(seen); seen = wakers.look())
      wakers.word().futex_wait(seen);
    pool.write(0);
  }
};

template <class Count = waker_count>
scenario pool_with(std::size_t wakers) {
  return [wakers](execution& run) {
    auto t = std::make_shared<table<Count>>();
    run.thread("worker", [t, wakers] { t->run(wakers); });
    for (std::size_t w = 0; w < wakers; ++w) run.thread("waker", [t, w] { t->wake(w); });
  };
}

const std::vector<scenario> k_all{pool_with(1), pool_with(2), pool_with(3)};

TEST(waker_count, one_waker_all_executions) {
  const outcome o = explore(pool_with(1), systematically(5));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(waker_count, several_wakers) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(waker_count, without_a_count_or_with_a_late_one_the_pool_is_used_after_its_end) {
  EXPECT_TRUE(explore(pool_with<counts_nothing>(1), systematically(3)).failed);
  EXPECT_TRUE(explore(pool_with<enters_late>(1), systematically(3)).failed);
}

TEST(waker_count, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "waker_count.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 3U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
