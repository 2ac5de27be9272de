// SPDX-License-Identifier: Apache-2.0
// shoal::detail::basic_task_cell on the simulated memory: tasks begin on one worker, end on another, and begin others;
// each worker looks, under a lock, after its last end. Whoever finds that all have ended sees what all have written; and
// the last one finds it. Counts that are read in the other order, or written late, must fail.
#include "shoal/detail/task_cells.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using production = detail::basic_task_cell<model_atomics>;

// The sums in the wrong order: a task that begins and ends between the two looks makes up for another.
struct reads_beginnings_first {
  model_atomic<std::uint64_t> begun{0};
  model_atomic<std::uint64_t> ended{0};
  void begin() { begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void end() { ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  template <class Cell>
  static bool all_ended(std::size_t count, const Cell& cell) {
    std::uint64_t begun_sum = 0;
    std::uint64_t ended_sum = 0;
    for (std::size_t i = 0; i < count; ++i) begun_sum += cell(i).begun.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) ended_sum += cell(i).ended.load(std::memory_order_acquire);
    return begun_sum == ended_sum;
  }
};
// The ends do not bring with them what came before.
struct ends_relaxed {
  model_atomic<std::uint64_t> begun{0};
  model_atomic<std::uint64_t> ended{0};
  void begin() { begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void end() { ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  template <class Cell>
  static bool all_ended(std::size_t count, const Cell& cell) {
    std::uint64_t ended_sum = 0;
    std::uint64_t begun_sum = 0;
    for (std::size_t i = 0; i < count; ++i) ended_sum += cell(i).ended.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) begun_sum += cell(i).begun.load(std::memory_order_relaxed);
    return begun_sum == ended_sum;
  }
};

template <class Cell>
struct table {
  std::array<Cell, 3> cells;
  std::array<model_plain<int>, 3> results;
  // The deque: a task is offered by a release, taken by an acquire.
  std::array<model_atomic<int>, 3> offered;

  bool all_ended() {
    return Cell::all_ended(
        cells.size(), [this](std::size_t i) -> auto& { return cells[i]; });
  }
  void begin(std::size_t worker, std::size_t task) {
    cells[worker].begin();
    offered[task].store(1, std::memory_order_release);
  }
  bool take(std::size_t task) {
    int expected = 1;
    return offered[task].compare_exchange_strong(expected, 2, std::memory_order_acquire, std::memory_order_relaxed);
  }
};

// Worker 0 has begun task 0, which begins tasks 1 and 2 on the worker that runs it. Workers 1 and 2 run what they find; a
// third thread looks at any time: if it finds that all have ended, all have.
template <class Cell = production>
scenario spreading() {
  return [](execution& run) {
    auto t = std::make_shared<table<Cell>>();
    t->begin(0, 0);
    for (std::size_t worker = 1; worker <= 2; ++worker)
      run.thread("worker", [=] {
        for (const std::size_t task : {0U, 1U, 2U, 0U}) {
          if (!t->take(task)) continue;
          if (task == 0) {
            t->begin(worker, 1);
            t->begin(worker, 2);
          }
          t->results[task].write(1);
          t->cells[worker].end();
        }
      });
    run.thread("looker", [=] {
      if (!t->all_ended()) return;
      for (auto& r : t->results) check(r.read() == 1, "all tasks have ended");
    });
  };
}

bool fails(const scenario& what) { return explore(what, randomly(20'000)).failed; }

TEST(task_cells, all_executions_with_few_preemptions) {
  const outcome o = explore(spreading(), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(task_cells, all_have_ended_when_it_says_so) {
  const outcome o = explore(spreading(), randomly(20'000));
  EXPECT_FALSE(o.failed) << o;
}

TEST(task_cells, other_rules_are_found_out) {
  EXPECT_TRUE(fails(spreading<reads_beginnings_first>()));
  EXPECT_TRUE(fails(spreading<ends_relaxed>()));
}

TEST(task_cells, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants({spreading()}, "task_cells.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 2U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
