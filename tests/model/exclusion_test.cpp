// SPDX-License-Identifier: Apache-2.0
// Model test of sched::claim and its exclusions (src/sched/exclusion.hpp) on the simulated memory: tasks on several
// threads want one or several exclusions. Every task runs once, alone among those that share an exclusion with it, and
// sees the effects of those before it; a task that had to queue is run by the thread that left.
#include "sched/exclusion.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using claim = sched::basic_claim<model_atomics>;

enum class slip { none, takes_without_asking, forgets_the_queue, names_in_any_order };

struct task : claim {
  model_plain<int> runs{0};
};

struct table {
  table(std::size_t exclusions, std::vector<std::vector<int>> by_task, int times, slip s)
      : wants(std::move(by_task)),
        guarded(exclusions),
        excludes(exclusions),
        tasks(wants.size()),
        rounds(times),
        what(s) {
    for (std::size_t t = 0; t < wants.size(); ++t)
      for (const int e : wants[t]) {
        if (what == slip::names_in_any_order)
          tasks[t].wanted.push_back(&excludes[static_cast<std::size_t>(e)]);
        else
          tasks[t].want(excludes[static_cast<std::size_t>(e)]);
      }
  }

  void enter(std::size_t t) {
    if (tasks[t].claim_all() || what == slip::takes_without_asking) run(t);
  }
  // Races on what an exclusion guards are found out by the simulated memory.
  void run(std::size_t t) {
    const int runs = tasks[t].runs.read() + 1;
    tasks[t].runs.write(runs);
    for (const int e : wants[t]) {
      auto& cell = guarded[static_cast<std::size_t>(e)];
      cell.write(cell.read() + 1);
    }
    std::vector<std::size_t> next;
    tasks[t].leave_all([&](claim& c) { next.push_back(static_cast<std::size_t>(static_cast<task*>(&c) - &tasks[0])); });
    if (what == slip::forgets_the_queue) return;
    if (runs < rounds) enter(t);  // its place is used again
    for (const std::size_t n : next) run(n);
  }

  std::vector<std::vector<int>> wants;
  std::vector<model_plain<int>> guarded;
  std::vector<claim::exclusion> excludes;
  std::vector<task> tasks;
  int rounds;
  slip what;
};

// One thread per task; each task runs `rounds` times.
scenario contended(std::size_t exclusions, std::vector<std::vector<int>> wants, int rounds = 1,
                   slip what = slip::none) {
  return [=](execution& run) {
    auto t = std::make_shared<table>(exclusions, wants, rounds, what);
    for (std::size_t i = 0; i < wants.size(); ++i) run.thread("task", [t, i] { t->enter(i); });
    run.finally([t, wants, rounds] {
      std::vector<int> expected(t->guarded.size());
      for (std::size_t i = 0; i < wants.size(); ++i) {
        check(t->tasks[i].runs.read() == rounds, "no task is forgotten or runs too often");
        for (const int e : wants[i]) expected[static_cast<std::size_t>(e)] += rounds;
      }
      for (std::size_t e = 0; e < expected.size(); ++e)
        check(t->guarded[e].read() == expected[e], "every task sees what the ones before it did");
    });
  };
}

const std::vector<scenario> k_all{contended(1, {{0}, {0}}),
                                  contended(1, {{0}, {0}, {0}}),
                                  contended(2, {{0, 1}, {1, 0}}),
                                  contended(2, {{0, 1}, {1, 0}, {1}}),
                                  contended(3, {{0, 1}, {1, 2}, {2, 0}}),
                                  contended(1, {{0}, {0}, {0}}, 2)};

TEST(exclusion, all_executions_with_few_preemptions) {
  for (const scenario& each : {contended(1, {{0}, {0}, {0}}), contended(2, {{0, 1}, {1, 0}})}) {
    const outcome o = explore(each, systematically(3));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(exclusion, every_task_runs_once_and_alone) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(exclusion, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "exclusion.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 4U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

TEST(exclusion, slips_of_the_protocol_are_found_out) {
  for (const slip s : {slip::takes_without_asking, slip::forgets_the_queue, slip::names_in_any_order}) {
    bool found = false;
    for (const scenario& each : {contended(1, {{0}, {0}}, 1, s), contended(2, {{0, 1}, {1, 0}}, 1, s)})
      found = found || explore(each, randomly(40'000)).failed;
    EXPECT_TRUE(found) << static_cast<int>(s);
  }
}

}  // namespace
}  // namespace shoal::model
