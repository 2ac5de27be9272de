// SPDX-License-Identifier: Apache-2.0
// How workers find new tasks after falling asleep: lockfree/sleeper_map.hpp, doorbell.hpp, wake_sign.hpp and the deque
// on the simulated memory. Whoever publishes pushes and then reads the sign, without a fence; the sleeper that turns
// the sign on executes a fence on all threads (membarrier). Publishers have no fence of their own here, as in the
// program. A lost wake-up is a deadlock.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <shoal/detail/deque.hpp>
#include <shoal/detail/wake_sign.hpp>

#include "lockfree/doorbell.hpp"
#include "lockfree/sleeper_map.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

struct item {};
using bell = lockfree::doorbell<model_atomics>;
using sleeper_map = lockfree::sleeper_map<model_atomics>;

// What a worker may leave out of the protocol; and the two settings of the scheduler.
struct variant {
  bool fences_heavily = true;  // else publishers fence and read the sign always
  bool searches = true;        // else as if policies did not reach everybody
  bool publisher_fences = true;
  bool sleeper_fences = true;
  bool looks_again = true;
  bool hands_on = true;
  bool pushes_back_loudly = true;
  unsigned slots_apart = 1;  // 64: each worker in a group of its own
};

struct worker_state {
  lockfree::deque<item, model_atomics> tasks{4};
  bell door;
  bool searching = false;
};

struct pool_state {
  pool_state(std::size_t workers, const variant& v)
      : how(v), sleepers(sign, v.slots_apart == 1 ? 1 : static_cast<unsigned>(workers), v.searches) {
    for (std::size_t i = 0; i < workers; ++i) all.push_back(std::make_unique<worker_state>());
  }
  unsigned slot(std::size_t worker) const { return static_cast<unsigned>(worker) * how.slots_apart; }
  void ring(unsigned slot) {
    if (slot == sleeper_map::k_nobody) return;
    bell& door = all[slot / how.slots_apart]->door;
    if (door.ring()) door.word().futex_wake_one();
  }

  const variant how;
  std::vector<std::unique_ptr<worker_state>> all;
  lockfree::wake_sign<model_atomics> sign;
  sleeper_map sleepers;
  item items[3];
};

// pool::wake_one() of src/sched/pool.cpp.
void wake_one(pool_state& p, std::size_t me) {
  if (p.how.searches) return p.ring(p.sleepers.wake_one(p.slot(me)));
  const auto groups = p.how.slots_apart == 1 ? 1U : static_cast<unsigned>(p.all.size());
  for (unsigned slot = 0;
       (slot = p.sleepers.take_one_of(groups, [](unsigned) { return true; })) != sleeper_map::k_nobody;) {
    bell& door = p.all[slot / p.how.slots_apart]->door;
    if (!door.ring()) continue;
    door.word().futex_wake_one();
    return;
  }
}

// publish() of include/shoal/detail/worker.hpp, which is what spawn() and unspawn_of() do.
void publish(pool_state& p, std::size_t me, item& t) {
  p.all[me]->tasks.push(&t);
  if (!p.how.fences_heavily) {
    if (p.how.publisher_fences) model_atomics::fence(std::memory_order_seq_cst);
    return wake_one(p, me);
  }
  if (p.sign.on()) wake_one(p, me);
}

bool anything(pool_state& p) {
  for (const auto& w : p.all)
    if (!w->tasks.seems_empty()) return true;
  return false;
}

// worker::park() of src/sched/worker_idle.cpp.
void park(pool_state& p, std::size_t me) {
  worker_state& w = *p.all[me];
  const auto fence_all = [&p] {
    if (!p.how.sleeper_fences) return;
    p.how.fences_heavily ? model_atomics::heavy_fence() : model_atomics::fence(std::memory_order_seq_cst);
  };
  const auto look = [&p](bool all) { return all && p.how.looks_again && anything(p); };
  const auto sleep = [&w] {
    while (w.door.may_sleep()) w.door.word().futex_wait(bell::k_announced);
  };
  w.searching = p.sleepers.park(p.slot(me), w.searching, w.door, fence_all, look, sleep);
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

// The loop of a worker that runs one task and computes for ever after.
item* find_one(pool_state& p, std::size_t me) {
  for (;;) {
    if (item* const t = steal(p, me)) {
      if (std::exchange(p.all[me]->searching, false) && p.how.hands_on) p.ring(p.sleepers.hand_on(p.slot(me)));
      return t;
    }
    park(p, me);
  }
}

// Worker 0 publishes one task per sleeper and computes for ever after: only the sleepers can run them, each runs one
// and computes for ever, too.
scenario long_tasks(std::size_t sleepers, variant v) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(1 + sleepers, v);
    auto begun = std::make_shared<std::vector<int>>(sleepers);
    run.thread("publisher", [=] {
      for (std::size_t i = 0; i < sleepers; ++i) publish(*p, 0, p->items[i]);
    });
    for (std::size_t s = 1; s <= sleepers; ++s)
      run.thread("sleeper", [=] { ++(*begun)[static_cast<std::size_t>(find_one(*p, s) - p->items)]; });
    run.finally([=] {
      for (const int times : *begun) check(times == 1, "every task begins once");
    });
  };
}

// Two publish a task each, for two sleepers.
scenario two_publishers(variant v) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(4, v);
    auto begun = std::make_shared<std::vector<int>>(2);
    for (std::size_t i = 0; i < 2; ++i) run.thread("publisher", [=] { publish(*p, i, p->items[i]); });
    for (std::size_t s = 2; s < 4; ++s)
      run.thread("sleeper", [=] { ++(*begun)[static_cast<std::size_t>(find_one(*p, s) - p->items)]; });
    run.finally([=] {
      for (const int times : *begun) check(times == 1, "every task begins once");
    });
  };
}

// A sleeper is also woken for something of its own, a message, after which it computes for ever: the other one must
// run the task.
scenario woken_for_something_else(variant v) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(3, v);
    auto message = std::make_shared<model_atomic<int>>(0);
    auto begun = std::make_shared<int>(0);
    run.thread("publisher", [=] {
      message->store(1, std::memory_order_release);
      p->ring(p->slot(1));
      publish(*p, 0, p->items[0]);
    });
    run.thread("receiver", [=] {
      worker_state& w = *p->all[1];
      while (message->load(std::memory_order_relaxed) == 0) {
        const auto look = [=](bool all) {
          return message->load(std::memory_order_relaxed) != 0 || (all && p->how.looks_again && anything(*p));
        };
        const auto sleep = [&w] {
          while (w.door.may_sleep()) w.door.word().futex_wait(bell::k_announced);
        };
        const auto fence_all = [&v = p->how] {
          if (v.fences_heavily)
            model_atomics::heavy_fence();
          else
            model_atomics::fence(std::memory_order_seq_cst);
        };
        w.searching = p->sleepers.park(p->slot(1), w.searching, w.door, fence_all, look, sleep);
      }
      if (w.searching && p->how.hands_on) p->ring(p->sleepers.hand_on(p->slot(1)));
    });
    run.thread("sleeper", [=] {
      find_one(*p, 2);
      ++*begun;
    });
    run.finally([=] { check(*begun == 1, "the task begins once"); });
  };
}

// Worker 0 publishes a task, looks whether it is a child of its own, puts it back, as a join does, and computes for
// ever.
scenario push_back(variant v) {
  return [=](execution& run) {
    auto p = std::make_shared<pool_state>(2, v);
    auto begun = std::make_shared<int>(0);
    run.thread("publisher", [=] {
      publish(*p, 0, p->items[0]);
      item* t = p->all[0]->tasks.pop();
      if (t == nullptr) return;
      if (p->how.pushes_back_loudly)
        publish(*p, 0, *t);
      else
        p->all[0]->tasks.push(t);
    });
    run.thread("sleeper", [=] {
      find_one(*p, 1);
      ++*begun;
    });
    run.finally([=] { check(*begun == 1, "the task begins once"); });
  };
}

std::vector<scenario> all_of(const variant& v) {
  std::vector<scenario> all{long_tasks(1, v), long_tasks(2, v), two_publishers(v), push_back(v)};
  if (v.searches) all.push_back(woken_for_something_else(v));
  return all;
}

const variant k_apart{.slots_apart = 64};

TEST(parking, one_sleeper_all_executions_with_three_preemptions) {
  for (const scenario& each : {long_tasks(1, {}), push_back({})}) {
    const outcome o = explore(each, systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(parking, no_task_waits_while_a_worker_sleeps) {
  for (const variant& v : {variant{}, k_apart, variant{.fences_heavily = false}, variant{.searches = false},
                           variant{.fences_heavily = false, .searches = false}})
    for (const scenario& each : all_of(v)) {
      const outcome o = explore(each, randomly(40'000));
      EXPECT_FALSE(o.failed) << o;
    }
}

TEST(parking, each_part_of_the_protocol_is_needed) {
  const std::vector<variant> broken{{.sleeper_fences = false},
                                    {.looks_again = false},
                                    {.fences_heavily = false, .publisher_fences = false},
                                    {.fences_heavily = false, .sleeper_fences = false},
                                    {.searches = false, .sleeper_fences = false},
                                    {.searches = false, .looks_again = false}};
  for (const variant& v : broken) {
    const outcome o = explore(long_tasks(1, v), randomly(60'000));
    EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << &v - broken.data() << ": " << o;
  }
  const outcome silent = explore(push_back({.pushes_back_loudly = false}), randomly(60'000));
  EXPECT_NE(silent.reason.find("deadlock"), std::string::npos) << silent;
}

TEST(parking, a_searcher_that_finds_work_must_wake_the_next) {
  for (const scenario& each : {long_tasks(2, {.hands_on = false}), woken_for_something_else({.hands_on = false})}) {
    const outcome o = explore(each, randomly(60'000));
    EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << o;
  }
}

TEST(parking, every_weaker_order_is_found_out) {
  std::vector<scenario> all = all_of({});
  for (const scenario& each : all_of(k_apart)) all.push_back(each);
  for (const scenario& each : all_of({.searches = false})) all.push_back(each);
  const mutant_report mutants = try_mutants(all, "sleeper_map.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 5U);
  // The doorbell orders what these order: its prepare() and ring() fence, and the sleeper's bit only names whose bell to
  // ring. They stay, so that the map is right with any bell.
  const std::vector<std::string> known{"announce: replace release as relaxed", "clear: replace acquire as relaxed",
                                       "take_one_of: load acquire as relaxed"};
  EXPECT_EQ(mutants.alive, known);
}

}  // namespace
}  // namespace shoal::model
