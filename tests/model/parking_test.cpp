// SPDX-License-Identifier: Apache-2.0
// How workers of one process find new tasks after falling asleep (src/sched/worker_idle.cpp, park(), and publish()
// in src/sched/task.cpp): whoever spawns pushes and then only reads how many sleep, without a fence; the sleeper
// announces itself, fences for both sides (membarrier), looks once more, and sleeps. The heavy fence makes every other
// thread fence between two of its instructions: in the model, a sequentially consistent fence on both sides. A lost
// wake-up is a deadlock.
#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <shoal/detail/deque.hpp>

#include "lockfree/doorbell.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

struct item {};
using bell = lockfree::doorbell<model_atomics>;

enum class mutant {
  none,
  spawner_without_fence,
  sleeper_without_fence,
  sleeper_does_not_look_again,
  rings_one_rung_already,
  pushes_back_silently
};

struct worker_state {
  lockfree::deque<item, model_atomics> tasks{8};
  bell door;
  model_atomic<int> parked{0};
};

struct pool_state {
  explicit pool_state(std::size_t workers) {
    for (std::size_t i = 0; i < workers; ++i) all.push_back(std::make_unique<worker_state>());
  }
  std::vector<std::unique_ptr<worker_state>> all;
  model_atomic<int> sleepers{0};
  item items[3];
};

// publish() of src/sched/task.cpp, which is what spawn() and unspawn_of() do, and pool::wake_one().
void spawn(pool_state& p, std::size_t me, item& t, mutant m) {
  p.all[me]->tasks.push(&t);
  if (m != mutant::spawner_without_fence)
    model_atomics::fence(std::memory_order_seq_cst);  // of the sleeper's membarrier
  if (p.sleepers.load(std::memory_order_relaxed) == 0) return;
  for (std::size_t i = 0; i < p.all.size(); ++i) {
    worker_state& w = *p.all[i];
    if (i == me || w.parked.load(std::memory_order_relaxed) == 0) continue;
    const bool rung = w.door.ring();
    if (rung) w.door.word().futex_wake_one();
    if (rung || m == mutant::rings_one_rung_already) return;
  }
}

bool anything(pool_state& p) {
  for (const auto& w : p.all)
    if (!w->tasks.seems_empty()) return true;
  return false;
}

void park(pool_state& p, std::size_t me, mutant m) {
  worker_state& w = *p.all[me];
  // The doorbell's own fence is one for a single sleeper; the pool's counter comes after it.
  w.door.prepare();
  w.parked.store(1, std::memory_order_relaxed);
  p.sleepers.fetch_add(1, std::memory_order_relaxed);
  if (m != mutant::sleeper_without_fence) model_atomics::fence(std::memory_order_seq_cst);
  if (m != mutant::sleeper_does_not_look_again && anything(p))
    w.door.cancel();
  else
    while (w.door.may_sleep()) w.door.word().futex_wait(bell::k_announced);
  w.parked.store(0, std::memory_order_relaxed);
  p.sleepers.fetch_add(-1, std::memory_order_relaxed);
}

item* steal(pool_state& p, std::size_t me) {
  for (std::size_t i = 0; i < p.all.size(); ++i)
    if (i != me)
      for (;;) {
        const auto r = p.all[i]->tasks.steal();
        if (r.outcome == lockfree::steal_outcome::won) return r.item;
        if (r.outcome == lockfree::steal_outcome::empty) break;
      }
  return nullptr;
}

// Worker 0 spawns one task per sleeper and computes for ever after: only the sleepers can run them, each runs one and
// computes for ever, too.
scenario long_tasks(std::size_t sleepers, mutant m) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(1 + sleepers);
    auto begun = std::make_shared<std::vector<int>>(sleepers);
    run.thread("spawner", [=] {
      for (std::size_t i = 0; i < sleepers; ++i) spawn(*p, 0, p->items[i], m);
    });
    for (std::size_t s = 1; s <= sleepers; ++s)
      run.thread("sleeper", [=] {
        for (;;) {
          if (item* t = steal(*p, s); t != nullptr) {
            ++(*begun)[static_cast<std::size_t>(t - p->items)];
            return;
          }
          park(*p, s, m);
        }
      });
    run.finally([=] {
      for (const int times : *begun) check(times == 1, "every task begins once");
    });
  };
}

// Worker 0 spawns a task, looks whether it is a child of its own, puts it back, as a join does, and computes for ever.
scenario push_back(mutant m) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(2);
    auto begun = std::make_shared<int>(0);
    run.thread("spawner", [=] {
      spawn(*p, 0, p->items[0], m);
      item* t = p->all[0]->tasks.pop();
      if (t == nullptr) return;
      if (m == mutant::pushes_back_silently)
        p->all[0]->tasks.push(t);
      else
        spawn(*p, 0, *t, m);
    });
    run.thread("sleeper", [=] {
      for (;;) {
        if (steal(*p, 1) != nullptr) {
          ++*begun;
          return;
        }
        park(*p, 1, m);
      }
    });
    run.finally([=] { check(*begun == 1, "the task begins once"); });
  };
}

TEST(parking, a_task_that_is_put_back_is_seen_too) {
  const outcome all = explore(push_back(mutant::none), systematically(3));
  EXPECT_FALSE(all.failed) << all;
  EXPECT_TRUE(all.complete) << all;
  const outcome some = explore(push_back(mutant::none), randomly(60'000));
  EXPECT_FALSE(some.failed) << some;
  const outcome silent = explore(push_back(mutant::pushes_back_silently), randomly(60'000));
  EXPECT_NE(silent.reason.find("deadlock"), std::string::npos) << silent;
}

TEST(parking, one_sleeper_all_executions_with_three_preemptions) {
  const outcome o = explore(long_tasks(1, mutant::none), systematically(3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(parking, no_task_waits_while_a_worker_sleeps) {
  for (const std::size_t sleepers : {1U, 2U}) {
    const outcome o = explore(long_tasks(sleepers, mutant::none), randomly(60'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(parking, each_half_of_the_protocol_is_needed) {
  for (const mutant m :
       {mutant::spawner_without_fence, mutant::sleeper_without_fence, mutant::sleeper_does_not_look_again}) {
    const outcome o = explore(long_tasks(1, m), randomly(60'000));
    EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << static_cast<int>(m) << ": " << o;
  }
}

TEST(parking, who_rings_a_sleeper_that_was_rung_already_must_look_for_another) {
  const outcome o = explore(long_tasks(2, mutant::rings_one_rung_already), randomly(60'000));
  EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << o;
}

}  // namespace
}  // namespace shoal::model
