// SPDX-License-Identifier: Apache-2.0
// Model test of the deque: every item is taken exactly once, and completely, by any thread, also in batches, across
// growth and reuse of slots, and with the guarded pop by which a join takes back its own child.
#include <shoal/detail/deque.hpp>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using lockfree::steal_outcome;

struct item {
  explicit item(int n) : number(n) {}
  int number;
  model_plain<int> closure{0};  // written by the owner before the push, read by the taker
  int taken = 0;                // bookkeeping of the test, not shared memory
};

struct table {
  explicit table(std::size_t capacity) : items(capacity) {
    for (int i = 0; i < 6; ++i) stock.push_back(std::make_unique<item>(i));
  }
  item* push(int i) {
    item* it = stock[static_cast<std::size_t>(i)].get();
    it->closure.write(100 + i);
    ++pushed;
    items.push(it);
    return it;
  }
  void took(item* it) {
    check(it != nullptr, "what was won is an item");
    check(++it->taken == 1, "an item is taken once");
    check(it->closure.read() == 100 + it->number, "its closure is complete");
  }
  void pop() {
    if (item* it = items.pop()) took(it);
  }
  void steal(int times) {
    while (times-- > 0) {
      const lockfree::steal_result<item> loot = items.steal();
      check((loot.outcome == steal_outcome::won) == (loot.item != nullptr), "won means an item, nothing else does");
      if (loot.item != nullptr) took(loot.item);
    }
  }
  void steal_batch(int times, std::size_t most) {
    while (times-- > 0) {
      item* more[4];
      std::size_t taken = 0;
      const lockfree::steal_result<item> loot = items.steal_batch({more, most}, 2, taken);
      check((loot.outcome == steal_outcome::won) == (loot.item != nullptr), "won means an item, nothing else does");
      check(taken == 0 || loot.item != nullptr, "further items come with a first one");
      if (loot.item == nullptr) continue;
      took(loot.item);
      for (std::size_t i = 0; i < taken; ++i) took(more[i]);
    }
  }
  void look_at_the_end() {
    while (item* it = items.pop()) took(it);
    for (int i = 0; i < pushed; ++i) check(stock[static_cast<std::size_t>(i)]->taken == 1, "no item is forgotten");
    check(items.seems_empty() && items.steal().outcome == steal_outcome::empty, "empty at the end");
  }

  lockfree::deque<item, model_atomics> items;
  std::vector<std::unique_ptr<item>> stock;
  int pushed = 0;
};

// The owner's part, and the number of attempts of each thief.
scenario with(std::size_t capacity, std::function<void(table&)> owner, std::vector<int> thieves) {
  return [=](execution& run) {
    auto t = std::make_shared<table>(capacity);
    run.thread("owner", [t, owner] { owner(*t); });
    for (const int tries : thieves) run.thread("thief", [t, tries] { t->steal(tries); });
    run.finally([t] { t->look_at_the_end(); });
  };
}

const scenario k_last_item = with(4,
                                  [](table& t) {
                                    t.push(0);
                                    t.pop();
                                  },
                                  {1, 1});

const scenario k_one_thief = with(4,
                                  [](table& t) {
                                    t.push(0);
                                    t.push(1);
                                    t.pop();
                                    t.push(2);
                                    t.pop();
                                    t.pop();
                                  },
                                  {3});

const scenario k_two_thieves = with(4,
                                    [](table& t) {
                                      t.push(0);
                                      t.push(1);
                                      t.push(2);
                                      t.pop();
                                      t.pop();
                                    },
                                    {2, 2});

const scenario k_growth = with(2,
                               [](table& t) {
                                 for (int i = 0; i < 5; ++i) t.push(i);
                                 t.pop();
                                 t.pop();
                               },
                               {2, 2});

const scenario k_reuse_of_slots = with(2,
                                       [](table& t) {
                                         t.push(0);
                                         t.push(1);
                                         t.pop();
                                         t.push(2);
                                         t.pop();
                                         t.push(3);
                                       },
                                       {2, 1});

// A task with a child 0 forks a child 1 and joins it, then joins 0. A join pops only if the bottom is its own child. If
// it does not get the child, a thief has taken or is taking it; it never pops a child of another task.
const scenario k_joins = with(4,
                              [](table& t) {
                                const auto join = [&t](item* child) {
                                  if (t.items.pop_if(child)) t.took(child);
                                };
                                item* outer = t.push(0);
                                item* inner = t.push(1);
                                join(inner);
                                join(outer);
                                join(t.push(2));
                              },
                              {1, 2});

// The owner's part; the number of attempts of each thief that takes batches, and of each that takes single items.
scenario with_batches(std::size_t capacity, std::function<void(table&)> owner, std::vector<int> batches,
                      std::vector<int> singles) {
  return [=](execution& run) {
    auto t = std::make_shared<table>(capacity);
    run.thread("owner", [t, owner] { owner(*t); });
    for (const int tries : batches) run.thread("batch", [t, tries] { t->steal_batch(tries, 2); });
    for (const int tries : singles) run.thread("thief", [t, tries] { t->steal(tries); });
    run.finally([t] { t->look_at_the_end(); });
  };
}

const auto k_push_four_pop_three = [](table& t) {
  for (int i = 0; i < 4; ++i) t.push(i);
  for (int i = 0; i < 3; ++i) t.pop();
};

const scenario k_batch = with_batches(4, k_push_four_pop_three, {1}, {});
const scenario k_batch_and_all_popped = with_batches(4,
                                                     [](table& t) {
                                                       for (int i = 0; i < 4; ++i) t.push(i);
                                                       for (int i = 0; i < 4; ++i) t.pop();
                                                     },
                                                     {2}, {});
// A thief reserves three; the owner may take one or two out of the reservation.
const scenario k_batch_of_three = with_batches(8,
                                               [](table& t) {
                                                 for (int i = 0; i < 6; ++i) t.push(i);
                                                 for (int i = 0; i < 6; ++i) t.pop();
                                               },
                                               {1}, {1});
const scenario k_two_batches = with_batches(4, k_push_four_pop_three, {2, 1}, {});
const scenario k_batch_and_thief = with_batches(4, k_push_four_pop_three, {1}, {2});
// An item popped out of a reservation is followed by a push into the same slot, or into a longer array.
const scenario k_batch_and_reuse = with_batches(4,
                                                [](table& t) {
                                                  for (int i = 0; i < 4; ++i) t.push(i);
                                                  for (int i = 0; i < 3; ++i) t.pop();
                                                  t.push(4);
                                                },
                                                {2}, {});
const scenario k_batch_and_growth = with_batches(2,
                                                 [](table& t) {
                                                   for (int i = 0; i < 4; ++i) t.push(i);
                                                   t.pop();
                                                   t.pop();
                                                   t.push(4);
                                                   t.pop();
                                                 },
                                                 {2}, {});

const std::vector<scenario> k_all{k_last_item,      k_one_thief,       k_two_thieves,     k_growth,
                                  k_reuse_of_slots, k_joins,           k_batch,           k_batch_and_all_popped,
                                  k_two_batches,    k_batch_and_thief, k_batch_and_reuse, k_batch_and_growth,
                                  k_batch_of_three};

TEST(deque, last_item_all_executions_with_few_preemptions) {
  const outcome o = explore(k_last_item, systematically(k_one_in > 1 ? 2 : 3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(deque, one_thief_all_executions_with_two_preemptions) {
  const outcome o = explore(k_one_thief, systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(deque, batches_all_executions_with_few_preemptions) {
  for (const scenario& each : {k_batch, k_batch_and_all_popped, k_batch_and_reuse}) {
    const outcome o = explore(each, systematically(2));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(deque, every_item_is_taken_once) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(deque, one_thief_and_no_pop_never_lose_a_race) {
  const scenario alone = [](execution& run) {
    auto t = std::make_shared<table>(2);
    run.thread("owner", [t] {
      for (int i = 0; i < 3; ++i) t->push(i);
    });
    run.thread("thief", [t] {
      for (int i = 0; i < 4; ++i) check(t->items.steal().outcome != steal_outcome::lost, "nobody to lose to");
    });
  };
  const outcome o = explore(alone, randomly(20'000));
  EXPECT_FALSE(o.failed) << o;
}

// Weakens each order in turn. These mutants survive, but the code keeps the stronger orders:
// - pop_contended, the exchanges of the top and the stores to the bottom: the fence before them already releases. A
// release costs nothing there on x86, and race detectors that ignore fences need it.
// - look, the load of the top: the fence after it already acquires.
// - the top between thieves and make_room: it prevents a load from seeing a store that is executed later, and the
// explorer does not simulate that.
TEST(deque, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "deque.hpp", randomly(30'000));
  EXPECT_EQ(mutants.tried, 33U);
  const std::vector<std::string> known{
      "look: load acquire as relaxed",
      "make_room: load acquire as relaxed",
      "pop_contended: replace release as relaxed",
      "pop_contended: replace release as relaxed",
      "pop_contended: store release as relaxed",
      "pop_contended: store release as relaxed",
      "steal_batch: replace release as relaxed",
      "take_oldest: replace release as relaxed",
  };
  EXPECT_EQ(mutants.alive, known);
}

}  // namespace
}  // namespace shoal::model
