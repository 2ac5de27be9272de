// SPDX-License-Identifier: Apache-2.0
// Model test of each wait policy: the cell (one waiter, one grant) and the bell (many waiters for values of one word),
// blocking at once and after some rounds. A lost wake-up is a deadlock.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "model/lock_model.hpp"
#include "shoal/detail/wait_bell.hpp"
#include "shoal/detail/wait_cell.hpp"

namespace shoal::model {
namespace {

// The cell is on the waiter's stack and is destroyed with it.
template <class Wait>
scenario granted() {
  return [](execution& run) {
    using cell = detail::wait_cell<Wait, model_atomics>;
    struct table {
      model_atomic<cell*> waiting{nullptr};
      model_plain<int> data{0};
    };
    set_up_waiting<Wait>();
    auto t = std::make_shared<table>();
    run.thread("waiter", [t] {
      for (int r = 1; r <= 2; ++r) {
        cell mine;
        t->waiting.store(&mine, std::memory_order_release);
        mine.wait(nullptr);
        check(t->data.read() == r, "what was written before the grant is visible");
      }
    });
    run.thread("granter", [t] {
      for (int r = 1; r <= 2; ++r) {
        cell* c = nullptr;
        while ((c = t->waiting.load(std::memory_order_acquire)) == nullptr) execution::current().give_way();
        t->waiting.store(nullptr, std::memory_order_relaxed);
        t->data.write(r);
        c->grant();
      }
    });
  };
}

// One resource, taken by any running waiter: ring_one.
template <class Wait>
scenario one_of_many(int threads) {
  return [=](execution& run) {
    struct table {
      model_atomic<std::uint32_t> held{0};
      detail::wait_bell<Wait, model_atomics> bell;
      model_plain<int> count{0};
    };
    set_up_waiting<Wait>();
    auto t = std::make_shared<table>();
    for (int i = 0; i < threads; ++i)
      run.thread("taker", [=] {
        t->bell.wait(nullptr, [&] { return t->held.exchange(1, std::memory_order_acquire) == 0; });
        t->count.write(t->count.read() + 1);
        t->held.store(0, std::memory_order_release);
        t->bell.ring_one();
      });
    run.finally([=] { check(t->count.read() == threads, "all have had it"); });
  };
}

// Each waiter waits for its own number: ring_all.
template <class Wait>
scenario each_its_own(int threads) {
  return [=](execution& run) {
    struct table {
      model_atomic<std::uint32_t> now{0};
      detail::wait_bell<Wait, model_atomics> bell;
    };
    set_up_waiting<Wait>();
    auto t = std::make_shared<table>();
    for (int i = 0; i < threads; ++i)
      run.thread("waiter", [=] {
        const auto mine = static_cast<std::uint32_t>(i);
        t->bell.wait(nullptr, [&] { return t->now.load(std::memory_order_acquire) == mine; });
        t->now.store(mine + 1, std::memory_order_release);
        t->bell.ring_all();
      });
  };
}

template <class Wait>
std::vector<scenario> all() {
  return {granted<Wait>(), one_of_many<Wait>(2), one_of_many<Wait>(3), each_its_own<Wait>(3)};
}

template <class Wait>
class every_way : public testing::Test {};
using ways = testing::Types<abstract_wait, parking_wait, adaptive_model_wait, task_model_wait>;
TYPED_TEST_SUITE(every_way, ways);

TYPED_TEST(every_way, all_executions_with_few_preemptions) {
  for (const scenario& each : {granted<TypeParam>(), one_of_many<TypeParam>(2), each_its_own<TypeParam>(2)}) {
    const outcome o = explore(each, systematically(k_one_in > 1 ? 2 : 3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TYPED_TEST(every_way, no_wake_up_is_lost) {
  for (const scenario& each : all<TypeParam>()) {
    const outcome o = explore(each, randomly(30'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

template <wait_mutant Mutant>
bool cell_fails() {
  return explore(granted<model_wait<true, 0, Mutant>>(), randomly(30'000)).failed;
}
template <wait_mutant Mutant>
bool bell_fails() {
  return explore(one_of_many<model_wait<true, 0, Mutant>>(2), randomly(30'000)).failed;
}

TEST(ways_of_waiting, without_a_fence_or_a_wake_somebody_sleeps_for_ever) {
  EXPECT_FALSE(cell_fails<wait_mutant::none>());
  EXPECT_TRUE(cell_fails<wait_mutant::no_wake>());
  EXPECT_FALSE(bell_fails<wait_mutant::none>());
  EXPECT_TRUE(bell_fails<wait_mutant::no_wake>());
  EXPECT_TRUE(bell_fails<wait_mutant::sleeper_without_fence>());
  EXPECT_TRUE(bell_fails<wait_mutant::ringer_without_fence>());
}

TEST(ways_of_waiting, a_task_that_is_not_woken_is_found_out) {
  using silent = model_leaving_wait<wait_mutant::no_wake>;
  EXPECT_TRUE(explore(granted<silent>(), randomly(30'000)).failed);
  EXPECT_TRUE(explore(one_of_many<silent>(2), randomly(30'000)).failed);
  EXPECT_TRUE(explore(each_its_own<silent>(2), randomly(30'000)).failed);
}

// This mutant survives: the load after the wake, because the wake already acquires.
TEST(ways_of_waiting, every_weaker_order_of_tasks_waits_is_found_out) {
  const mutant_report mutants = try_mutants(all<task_model_wait>(), "leaving_wait.hpp", randomly(20'000));
  EXPECT_GE(mutants.tried, 8U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{"wait: load acquire as relaxed"});
}

TEST(ways_of_waiting, every_weaker_order_of_the_cell_is_found_out) {
  for (const mutant_report& mutants : {try_mutants(all<parking_wait>(), "wait_cell.hpp", randomly(20'000)),
                                       try_mutants(all<abstract_wait>(), "wait_cell.hpp", randomly(20'000))}) {
    EXPECT_GE(mutants.tried, 2U);
    EXPECT_EQ(mutants.alive, std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace shoal::model
