// SPDX-License-Identifier: Apache-2.0
// shoal::detail::completion_word on the simulated memory: whoever fills a future completes it and does what the word
// said before (wakes the waiter, runs the successor, disposes of what was dropped); the future's owner waits, attaches
// or drops; and the task that is to fill it may leave its place there when it waits itself. What was filled in is seen
// by whoever goes on, who goes on once, and the state ends once. Every weaker memory order in its code must fail, but
// for those that only the search for cycles needs; and so must words with other rules.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"
#include "shoal/detail/completion.hpp"

namespace shoal::model {
namespace {

using production = detail::completion_word<model_atomics>;
constexpr auto k_seq_cst = std::memory_order_seq_cst;

struct completes_in_two_steps : production {
  std::uintptr_t complete() {
    const std::uintptr_t before = look();
    word_.store(k_done, k_seq_cst);
    return before;
  }
};
struct waits_without_looking : production {
  std::uintptr_t wait(std::uintptr_t mark) {
    const std::uintptr_t before = look();
    if (before != k_done) word_.store(mark, k_seq_cst);
    return before;
  }
};
struct attaches_without_looking : production {
  bool attach(std::uintptr_t mark, production&) {
    if (look() == k_done) return false;
    word_.store(mark, k_seq_cst);
    return true;
  }
};
struct shows_its_place_over_the_waiter : production {
  bool replace(std::uintptr_t&, std::uintptr_t mark) {
    word_.store(mark, k_seq_cst);
    return true;
  }
};
struct drops_without_looking : production {
  bool drop() {
    if (look() == k_done) return false;
    word_.store(k_dropped, k_seq_cst);
    return true;
  }
};

template <class Word>
struct table {
  Word word;
  production successor;
  model_plain<int> value{0};
  model_plain<int> mark{0};  // what the owner leaves beside the word: the notes of its stack, the successor's body
  model_atomic<int> woken{0};
  int gone_on = 0;  // the explorer's own books
  int disposed = 0;

  void goes_on() {
    check(value.read() == 7, "who goes on sees the value");
    check(++gone_on == 1, "only one goes on, once");
  }
  void dispose() { check(++disposed == 1, "the state ends once"); }

  // show_place() and finish() of src/sched/future.cpp
  void fill(bool shows) {
    if (shows) {
      std::uintptr_t seen = word.look();
      if (seen == production::k_nobody) word.replace(seen, production::k_place);
    }
    value.write(7);
    const std::uintptr_t before = word.complete();
    const std::uintptr_t tag = production::tag_of(before);
    if (before != production::k_nobody && tag != production::k_place)
      check(mark.read() == 1, "what the owner left is seen");
    switch (tag) {
      case production::k_successor: goes_on(); return dispose();
      case production::k_waiter:
        check(woken.fetch_add(1, std::memory_order_acq_rel) == 0, "one wake for each wait");
        return woken.futex_wake_one();
      case production::k_dropped: return dispose();
      default: return;
    }
  }
  void wait() {
    if (word.wait(production::k_waiter) != production::k_done)
      while (woken.load(std::memory_order_acquire) == 0) woken.futex_wait(0);
    goes_on();
    dispose();
  }
  // Waits, takes the wait back (a cycle was found), and waits once more.
  void wait_twice() {
    const std::uintptr_t before = word.wait(production::k_waiter);
    if (before != production::k_done && word.take_back(production::k_waiter, before)) return wait();
    if (before != production::k_done)
      while (woken.load(std::memory_order_acquire) == 0) woken.futex_wait(0);
    goes_on();
    dispose();
  }
  void poll() {
    while (!word.is_done()) execution::current().give_way();
    goes_on();
    dispose();
  }
  void attach() {
    if (word.attach(production::k_successor, successor)) return;
    goes_on();  // the caller runs the continuation itself
    dispose();
  }
  void drop() {
    if (word.drop()) return;
    check(value.read() == 7, "who disposes of the state sees its end");
    dispose();
  }
};

enum class owner { waits, waits_twice, polls, attaches, drops };
constexpr owner k_owners[] = {owner::waits, owner::waits_twice, owner::polls, owner::attaches, owner::drops};

template <class Word = production>
scenario future(owner what, bool shows) {
  return [=](execution& run) {
    auto t = std::make_shared<table<Word>>();
    run.thread("task", [=] { t->fill(shows); });
    run.thread("owner", [=] {
      t->mark.write(1);
      switch (what) {
        case owner::waits: return t->wait();
        case owner::waits_twice: return t->wait_twice();
        case owner::polls: return t->poll();
        case owner::attaches: return t->attach();
        case owner::drops: return t->drop();
      }
    });
    run.finally([=] {
      check(t->gone_on == (what == owner::drops ? 0 : 1), "whoever wanted the value has gone on");
      check(t->disposed == 1, "the state has ended");
    });
  };
}

template <class Word>
bool fails() {
  for (const owner what : k_owners)
    if (explore(future<Word>(what, true), randomly(20'000)).failed) return true;
  return false;
}

TEST(future_word, all_executions) {
  for (const owner what : k_owners)
    for (const bool shows : {false, true}) {
      const outcome o = explore(future(what, shows), systematically(6));
      EXPECT_FALSE(o.failed) << o;
      EXPECT_TRUE(o.complete) << o;
      const outcome random = explore(future(what, shows), randomly(20'000));
      EXPECT_FALSE(random.failed) << random;
    }
}

TEST(future_word, other_rules_are_found_out) {
  EXPECT_TRUE(fails<completes_in_two_steps>());
  EXPECT_TRUE(fails<waits_without_looking>());
  EXPECT_TRUE(fails<attaches_without_looking>());
  EXPECT_TRUE(fails<shows_its_place_over_the_waiter>());
  EXPECT_TRUE(fails<drops_without_looking>());
}

// What survives is stronger than the hand-over needs: the search for cycles needs the word and the edges between
// stacks, which are not simulated here, in one order.
TEST(future_word, weaker_orders_are_found_out) {
  std::vector<scenario> scenarios;
  for (const owner what : k_owners)
    for (const bool shows : {false, true}) scenarios.push_back(future(what, shows));
  const mutant_report mutants = try_mutants(scenarios, "completion.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 25U);
  EXPECT_EQ(mutants.alive, (std::vector<std::string>{
                               "attach: replace seq_cst as acq_rel", "attach: replace seq_cst as release",
                               "complete: replace seq_cst as acq_rel", "drop: replace seq_cst as acq_rel",
                               "drop: replace seq_cst as release", "look: load seq_cst as acquire",
                               "replace: replace seq_cst as acq_rel", "replace: replace seq_cst as release",
                               "take_back: replace seq_cst as acq_rel", "take_back: replace seq_cst as acquire",
                               "take_back: replace seq_cst as relaxed", "take_back: replace seq_cst as release"}));
}

}  // namespace
}  // namespace shoal::model
