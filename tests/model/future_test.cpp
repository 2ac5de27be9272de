// SPDX-License-Identifier: Apache-2.0
// The word of shoal::detail::future_state (src/sched/future.cpp) on the simulated memory: whoever fills a future
// exchanges the word for `ready` and does what it said before (wakes the waiter, runs the successor, disposes of what
// was dropped); the future's holder waits, attaches or drops by compare-and-exchange; and the task that is to fill it
// may leave its place there when it waits itself. What was filled in is seen by whoever goes on, who goes on once, and
// the state ends once. The steps are written out again here, since waiting switches stacks.
#include <atomic>
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

enum word : std::uint64_t { nobody, ready, dropped, waiting, successor, place };

enum class mutant {
  none,
  fills_without_release,
  fills_in_two_steps,
  waits_without_looking,
  attaches_without_looking,
  reads_without_acquire,
  place_over_waiter,
  drops_without_looking
};

struct table {
  model_atomic<std::uint64_t> word{nobody};
  model_plain<int> value{0};
  model_atomic<int> woken{0};
  int gone_on = 0;  // the explorer's own books
  int disposed = 0;

  void goes_on() {
    check(value.read() == 7, "who goes on sees the value");
    check(++gone_on == 1, "only one goes on, once");
  }
  void dispose() { check(++disposed == 1, "the state ends once"); }
};

constexpr auto k_seq_cst = std::memory_order_seq_cst;
constexpr auto k_relaxed = std::memory_order_relaxed;

// run_future() and finish(); `in_vain` times the task waits for something else first, and shows where it is.
void fill(table& t, bool shows, mutant m) {
  if (shows) {
    std::uint64_t seen = t.word.load(k_seq_cst);
    if (m == mutant::place_over_waiter)
      t.word.store(place, k_seq_cst);
    else if (seen == nobody)
      t.word.compare_exchange_strong(seen, place, k_seq_cst, k_seq_cst);
  }
  t.value.write(7);
  std::uint64_t before = nobody;
  if (m == mutant::fills_in_two_steps) {
    before = t.word.load(k_seq_cst);
    t.word.store(ready, k_seq_cst);
  } else {
    before = t.word.exchange(ready, m == mutant::fills_without_release ? k_relaxed : k_seq_cst);
  }
  if (before == successor) {
    t.goes_on();
    t.dispose();
  } else if (before == waiting) {
    check(t.woken.fetch_add(1, std::memory_order_acq_rel) == 0, "one wake for each wait");
    t.woken.futex_wake_one();
  } else if (before == dropped) {
    t.dispose();
  }
}

// wait_for()
void wait(table& t, mutant m) {
  std::uint64_t seen = t.word.load(k_seq_cst);
  for (;;) {
    if (seen == ready) break;
    if (m == mutant::waits_without_looking) {
      t.word.store(waiting, k_seq_cst);
    } else if (!t.word.compare_exchange_weak(seen, waiting, k_seq_cst, k_seq_cst)) {
      continue;
    }
    while (t.woken.load(std::memory_order_acquire) == 0) t.woken.futex_wait(0);
    break;
  }
  t.goes_on();
  t.dispose();
}

// attach(), by a caller that runs the continuation itself if the value is there.
void attach(table& t, mutant m) {
  const auto acquire = m == mutant::reads_without_acquire ? k_relaxed : std::memory_order_acquire;
  for (std::uint64_t seen = t.word.load(acquire);;) {
    if (seen == ready) {
      t.goes_on();
      return t.dispose();
    }
    if (m == mutant::attaches_without_looking) return t.word.store(successor, k_seq_cst);
    if (t.word.compare_exchange_weak(seen, successor, k_seq_cst, acquire)) return;
  }
}

// drop() of a future that does not wait.
void drop(table& t, mutant m) {
  for (std::uint64_t seen = t.word.load(std::memory_order_acquire); seen != ready;) {
    if (m == mutant::drops_without_looking) return t.word.store(dropped, k_seq_cst);
    if (t.word.compare_exchange_weak(seen, dropped, k_seq_cst, std::memory_order_acquire)) return;
  }
  t.dispose();
}

enum class holder { waits, attaches, drops };

scenario future(holder what, bool shows, mutant m) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    run.thread("task", [=] { fill(*t, shows, m); });
    run.thread("holder", [=] {
      switch (what) {
        case holder::waits: return wait(*t, m);
        case holder::attaches: return attach(*t, m);
        case holder::drops: return drop(*t, m);
      }
    });
    run.finally([=] {
      check(t->gone_on == (what == holder::drops ? 0 : 1), "whoever wanted the value has gone on");
      check(t->disposed == 1, "the state has ended");
    });
  };
}

constexpr holder k_holders[] = {holder::waits, holder::attaches, holder::drops};

TEST(future_word, all_executions) {
  for (const holder what : k_holders)
    for (const bool shows : {false, true}) {
      const outcome o = explore(future(what, shows, mutant::none), systematically(6));
      EXPECT_FALSE(o.failed) << o;
      EXPECT_TRUE(o.complete) << o;
      const outcome random = explore(future(what, shows, mutant::none), randomly(20'000));
      EXPECT_FALSE(random.failed) << random;
    }
}

TEST(future_word, weaker_protocols_are_found_out) {
  for (const mutant m : {mutant::fills_without_release, mutant::fills_in_two_steps, mutant::waits_without_looking,
                         mutant::attaches_without_looking, mutant::reads_without_acquire, mutant::place_over_waiter,
                         mutant::drops_without_looking}) {
    bool found = false;
    for (const holder what : k_holders) found = found || explore(future(what, true, m), randomly(20'000)).failed;
    EXPECT_TRUE(found) << static_cast<int>(m);
  }
}

}  // namespace
}  // namespace shoal::model
