// SPDX-License-Identifier: Apache-2.0
// Model test of a task with dependences (src/sched/successors.hpp): a registering task adds successors to tasks that
// end concurrently on other threads. Every successor runs once, after all its predecessors, and sees their writes. No
// slot is written while another thread reads it, also when a place is reused for a second task.
#include "sched/successors.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using arrivals = sched::arrival_count<model_atomics>;

constexpr int k_slots = 3;
constexpr int k_done = 7;

template <class Successors>
struct place {
  Successors successors;
  arrivals left;
  model_plain<int> slots[k_slots];
  model_plain<int> result;
  std::vector<int> waits_for;
  int runs = 0;
};

enum class slip { none, expects_too_few, forgets_to_give_up, tells_nobody };

template <class Successors>
struct table {
  explicit table(int places, slip s) : tasks(static_cast<std::size_t>(places)), what(s) {}

  place<Successors>& at(int i) { return tasks[static_cast<std::size_t>(i)]; }

  // Called by the thread that made the task runnable, or found that it has no unfinished predecessors.
  void run(int i) {
    place<Successors>& t = at(i);
    check(t.runs++ == 0, "a task runs once");
    for (const int p : t.waits_for) check(at(p).result.read() == k_done, "a task sees what its predecessors did");
    end(i);
  }
  void end(int i) {
    place<Successors>& t = at(i);
    t.result.write(k_done);
    const std::uint32_t count = t.successors.close();
    if (what == slip::tells_nobody && count > 1) return;
    for (std::uint32_t s = 0; s < count; ++s) {
      const int later = t.slots[s].read();
      if (at(later).left.arrive()) run(later);
    }
  }
  // The same steps as task_flow::submit.
  void enter(int i, std::vector<int> earlier) {
    place<Successors>& t = at(i);
    t.waits_for = earlier;
    t.successors.open();
    std::vector<int> candidates;
    for (const int p : earlier)
      if (!at(p).successors.closed()) candidates.push_back(p);
    bool ready = true;
    if (!candidates.empty()) {
      const int expected = static_cast<int>(candidates.size()) - (what == slip::expects_too_few ? 1 : 0);
      t.left.expect(expected);
      std::int32_t in_vain = 0;
      for (const int p : candidates) {
        place<Successors>& before = at(p);
        const std::uint32_t slot = before.successors.written();
        before.slots[slot].write(i);
        if (!before.successors.add()) ++in_vain;
      }
      ready = in_vain != 0 && what != slip::forgets_to_give_up && t.left.give_up(in_vain);
    }
    if (ready) run(i);
  }

  std::vector<place<Successors>> tasks;
  slip what;
};

// The first `running` tasks run on separate threads; each later task waits for the given tasks.
template <class Successors = sched::successor_count<model_atomics>>
scenario entered(int running, std::vector<std::vector<int>> waiting, slip what = slip::none) {
  return [=](execution& run) {
    const int all = running + static_cast<int>(waiting.size());
    auto t = std::make_shared<table<Successors>>(all, what);
    for (int i = 0; i < running; ++i) t->at(i).successors.open();
    for (int i = 0; i < running; ++i) run.thread("task", [t, i] { t->end(i); });
    run.thread("registering", [t, running, waiting] {
      for (std::size_t i = 0; i < waiting.size(); ++i) t->enter(running + static_cast<int>(i), waiting[i]);
    });
    run.finally([t, running, all] {
      for (int i = running; i < all; ++i) check(t->at(i).runs == 1, "no task is forgotten");
    });
  };
}

// The place of task 0 is freed and reused for another task, for which task 2 then waits; task 1 waited for the first.
const scenario k_place_used_again = [](execution& run) {
  using count = sched::successor_count<model_atomics>;
  struct shared : table<count> {
    shared() : table<count>(3, slip::none) {}
    model_atomic<int> step{
        0};  // 1: the place is free (the list of ended tasks); 2: its second task may run (the deque)
  };
  auto t = std::make_shared<shared>();
  t->at(0).successors.open();
  run.thread("worker", [t] {
    t->end(0);
    t->step.store(1, std::memory_order_release);
    while (t->step.load(std::memory_order_acquire) < 2) execution::current().give_way();
    t->end(0);
  });
  run.thread("registering", [t] {
    t->enter(1, {0});
    while (t->step.load(std::memory_order_acquire) < 1) execution::current().give_way();
    t->at(0).successors.open();
    t->at(0).result.write(0);
    t->step.store(2, std::memory_order_release);
    t->enter(2, {0});
  });
  run.finally([t] { check(t->at(1).runs == 1 && t->at(2).runs == 1, "no task is forgotten"); });
};

const std::vector<scenario> k_all{entered(1, {{0}}), entered(2, {{0, 1}}), entered(1, {{0}, {0}, {0, 1}}),
                                  entered(2, {{0, 1}, {1, 2}}), k_place_used_again};

TEST(dependence, all_executions_with_few_preemptions) {
  for (const scenario& each : {entered(1, {{0}, {0}}), entered(2, {{0, 1}})}) {
    const outcome o = explore(each, systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(dependence, every_task_runs_once_after_its_predecessors) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(dependence, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "successors.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 14U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

TEST(dependence, slips_of_the_protocol_are_found_out) {
  for (const slip s : {slip::expects_too_few, slip::forgets_to_give_up, slip::tells_nobody}) {
    bool found = false;
    for (const scenario& each : {entered(2, {{0, 1}}, s), entered(1, {{0}, {0}}, s)})
      found = found || explore(each, randomly(40'000)).failed;
    EXPECT_TRUE(found) << static_cast<int>(s);
  }
}

// The count must stay in the word: otherwise the registering task writes a slot while the closer reads it.
class forgetful_count {
public:
  static constexpr std::uint32_t k_closed = std::uint32_t{1} << 31;
  void open() { word_.store(0, std::memory_order_relaxed); }
  std::uint32_t written() const { return word_.load(std::memory_order_relaxed) & ~k_closed; }
  bool closed() const { return (word_.load(std::memory_order_acquire) & k_closed) != 0; }
  bool add() { return (word_.fetch_add(1, std::memory_order_acq_rel) & k_closed) == 0; }
  std::uint32_t close() { return word_.exchange(k_closed, std::memory_order_acq_rel); }

private:
  model_atomic<std::uint32_t> word_{k_closed};
};

TEST(dependence, a_close_that_forgets_the_count_is_found_out) {
  EXPECT_TRUE(explore(entered<forgetful_count>(1, {{0}, {0}}), randomly(40'000)).failed);
}

}  // namespace
}  // namespace shoal::model
