// SPDX-License-Identifier: Apache-2.0
// Conditions: tasks of a graph that choose which task begins next.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class graph_conditions : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, graph_conditions, testing::Values(1U, 2U, 4U));

std::string told_by(task_graph& g) {
  try {
    g.run();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    return e.what();
  }
  return "nothing was refused";
}

TEST_P(graph_conditions, choose_one_of_several_tasks) {
  run([] {
    int wanted = 0;
    std::vector<int> runs(3);
    task_graph g;
    auto which = g.add_condition("which", [&wanted] { return wanted; });
    for (int i = 0; i < 3; ++i) which.chooses(g.add([&runs, i] { ++runs[static_cast<std::size_t>(i)]; }));
    for (wanted = 0; wanted < 3; ++wanted) g.run();
    wanted = 1;
    g.run();
    EXPECT_EQ(runs, (std::vector<int>{1, 2, 1}));
    wanted = task_graph::k_none;
    g.run();
    EXPECT_EQ(runs, (std::vector<int>{1, 2, 1}));
  });
}

TEST_P(graph_conditions, make_loops_which_repeat_in_each_run) {
  run([] {
    int i = 0;
    int steps = 0;
    int ends = 0;
    task_graph g;
    auto begin = g.add([&i] { i = 0; });
    auto step = g.add([&] {
      ++i;
      ++steps;
    });
    auto again = g.add_condition([&i] { return i < 1000; });
    auto end = g.add([&ends] { ++ends; });
    begin.precedes(step);
    step.precedes(again);
    again.chooses(end, step);
    for (int round = 1; round <= 3; ++round) {
      g.run();
      EXPECT_EQ(i, 1000);
      EXPECT_EQ(steps, 1000 * round);
      EXPECT_EQ(ends, round);
    }
  });
}

TEST_P(graph_conditions, may_choose_themselves) {
  run([] {
    int n = 0;
    task_graph g;
    auto begin = g.add([&n] { n = 0; });
    auto count = g.add_condition([&n] { return ++n < 100 ? 0 : task_graph::k_none; });
    begin.precedes(count);
    count.chooses(count);
    g.run();
    g.run();
    EXPECT_EQ(n, 100);
  });
}

// The body of the loop is a fork and a join: their strong order holds in each round.
TEST_P(graph_conditions, loops_may_contain_parallel_tasks) {
  run([] {
    constexpr std::size_t k_wide = 8;
    std::vector<int> values(k_wide);
    int sum = 0;
    int rounds = 0;
    task_graph g;
    auto begin = g.add([&] {
      rounds = 0;
      sum = 0;
    });
    auto fork = g.add([] {});
    auto join = g.add_condition([&] {
      for (const int v : values) sum += v;
      return ++rounds == 50 ? 1 : 0;
    });
    auto end = g.add([&sum] { sum = -sum; });
    begin.precedes(fork);
    for (std::size_t i = 0; i < k_wide; ++i) {
      auto each = g.add([&, i] {
        if (i == 3) yield();
        values[i] = rounds + 1;
      });
      fork.precedes(each);
      each.precedes(join);
    }
    join.chooses(fork, end);
    for (int round = 0; round < 3; ++round) {
      g.run();
      EXPECT_EQ(sum, -static_cast<int>(k_wide) * 50 * 51 / 2);
    }
  });
}

TEST_P(graph_conditions, return_bools_enumerators_and_sizes) {
  run([] {
    enum class answer : std::uint8_t { no, yes };
    std::string said;
    task_graph g;
    auto a = g.add_condition([] { return true; });
    auto b = g.add_condition([] { return answer::no; });
    auto c = g.add_condition([] { return std::size_t{1}; });
    auto wrong = g.add([&said] { said += "wrong"; });
    auto end = g.add([&said] { said += "right"; });
    a.chooses(wrong, b);
    b.chooses(c, wrong);
    c.chooses(wrong, end);
    g.run();
    EXPECT_EQ(said, "right");
  });
}

TEST_P(graph_conditions, may_also_precede_tasks) {
  run([] {
    int before = 0;
    int chosen = 0;
    int after = 0;
    task_graph g;
    auto c = g.add_condition([&before] { return ++before, 0; });
    auto x = g.add([&chosen] { ++chosen; });
    auto y = g.add([&after] { ++after; });
    c.chooses(x);
    c.precedes(y);
    g.run();
    EXPECT_EQ(before, 1);
    EXPECT_EQ(chosen, 1);
    EXPECT_EQ(after, 1);
  });
}

TEST_P(graph_conditions, an_index_without_a_task_is_told_with_the_name) {
  run([] {
    int index = 2;
    int runs = 0;
    task_graph g;
    auto c = g.add_condition("which way", [&index] { return index; });
    c.chooses(g.add([&runs] { ++runs; }), g.add([&runs] { ++runs; }));
    std::string why = told_by(g);
    EXPECT_NE(why.find("the condition \"which way\" has returned 2, but it has 2 choices"), std::string::npos) << why;
    index = -2;
    why = told_by(g);
    EXPECT_NE(why.find("has returned -2"), std::string::npos) << why;
    EXPECT_EQ(runs, 0);
    index = 1;
    g.run();
    EXPECT_EQ(runs, 1);
  });
}

TEST_P(graph_conditions, a_graph_in_which_nothing_can_begin_is_told) {
  run([] {
    task_graph g;
    auto c = g.add_condition([] { return 0; });
    c.chooses(c);
    const std::string why = told_by(g);
    EXPECT_NE(why.find("no task of this graph can begin"), std::string::npos) << why;
  });
}

TEST_P(graph_conditions, only_strong_orders_make_cycles) {
  run([] {
    task_graph g;
    auto a = g.add("a", [] {});
    auto b = g.add("b", [] {});
    auto c = g.add_condition("c", [] { return task_graph::k_none; });
    a.precedes(b);
    b.precedes(c);
    c.chooses(b);
    g.run();
    c.precedes(b);
    const std::string why = told_by(g);
    EXPECT_NE(why.find("\"b\" -> \"c\" -> \"b\""), std::string::npos) << why;
  });
}

TEST_P(graph_conditions, an_exception_ends_a_loop_and_the_graph_can_run_again) {
  run([] {
    int i = 0;
    bool fails = true;
    int ends = 0;
    task_graph g;
    auto begin = g.add([&i] { i = 0; });
    auto left = g.add([&] {
      if (++i == 10 && fails) throw std::runtime_error("bad");
    });
    auto right = g.add([] {});
    auto again = g.add_condition([&i] { return i < 20 ? 0 : 1; });
    auto fork = g.add([] {});
    auto end = g.add([&ends] { ++ends; });
    begin.precedes(fork);
    fork.precedes(left, right);
    again.succeeds(left, right);
    again.chooses(fork, end);
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(ends, 0);
    fails = false;
    g.run();
    EXPECT_EQ(i, 20);
    EXPECT_EQ(ends, 1);
  });
}

TEST_P(graph_conditions, a_condition_that_throws_chooses_nothing) {
  run([] {
    int runs = 0;
    task_graph g;
    auto c = g.add_condition([]() -> int { throw std::runtime_error("bad"); });
    c.chooses(g.add([&runs] { ++runs; }));
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(runs, 0);
  });
}

// Which tasks run differs from run to run; a join that did not complete does not carry over into the next run.
TEST_P(graph_conditions, what_a_run_has_not_chosen_leaves_nothing_behind) {
  run([] {
    bool both = false;
    int joins = 0;
    task_graph g;
    auto begin = g.add([] {});
    auto plain = g.add([] {});
    auto c = g.add_condition([&both] { return both ? 0 : task_graph::k_none; });
    auto other = g.add([] {});
    auto join = g.add([&joins] { ++joins; });
    begin.precedes(plain, c);
    c.chooses(other);
    join.succeeds(plain, other);
    g.run();
    g.run();
    EXPECT_EQ(joins, 0);
    both = true;
    g.run();
    EXPECT_EQ(joins, 1);
  });
}

// One worker: the second path has chosen when the first one goes on.
TEST(graph_condition, two_paths_that_begin_one_task_at_the_same_time_are_told) {
  run_pool(1, [] {
    std::atomic<int> choosing{0};
    int runs = 0;
    task_graph g;
    auto begin = g.add([] {});
    auto meeting = g.add("meeting", [&] {
      ++runs;
      while (choosing.load() < 2) yield();
    });
    for (int i = 0; i < 2; ++i) {
      auto c = g.add_condition([&choosing] { return ++choosing, 0; });
      begin.precedes(c);
      c.chooses(meeting);
    }
    const std::string why = told_by(g);
    EXPECT_NE(why.find("\"meeting\" is begun by two paths"), std::string::npos) << why;
    EXPECT_EQ(runs, 1);
  });
}

TEST(graph_condition, a_long_loop_lets_others_run) {
  run_pool(1, [] {
    constexpr int k_rounds = 200'000;
    std::atomic<int> i{0};
    std::atomic<int> seen{k_rounds};
    semaphore first(0);
    task_group others;
    others.run([&] {
      first.acquire();
      seen = i.load();
    });
    yield();  // it waits now
    task_graph g;
    auto begin = g.add([&first] { first.release(); });
    auto count = g.add_condition([&i] { return ++i < k_rounds ? 0 : task_graph::k_none; });
    begin.precedes(count);
    count.chooses(count);
    g.run();
    others.wait();
    EXPECT_LT(seen.load(), k_rounds);
  });
}

}  // namespace
}  // namespace shoal::sched
