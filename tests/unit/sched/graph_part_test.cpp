// SPDX-License-Identifier: Apache-2.0
// Tasks of a graph that add tasks while it runs, and graphs as tasks of other graphs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class graph_parts : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, graph_parts, testing::Values(1U, 2U, 4U));

TEST_P(graph_parts, tasks_added_during_the_run_end_before_the_successors) {
  run([] {
    std::size_t width = 0;
    std::vector<int> made;
    int sum = 0;
    task_graph g;
    auto source = g.add([&] { made.assign(width, 0); });
    auto wide = g.add("wide", [&](task_graph& part) {
      auto first = part.add([] {});
      for (int& m : made) {
        auto each = part.add([&m] {
          yield();
          m = 2;
        });
        first.precedes(each);
      }
    });
    auto sink = g.add([&] {
      for (const int m : made) sum += m;
    });
    source.precedes(wide);
    wide.precedes(sink);
    for (width = 0; width < 40; width += 13) {
      sum = 0;
      g.run();
      EXPECT_EQ(sum, 2 * static_cast<int>(width));
    }
  });
}

void add_fibonacci(task_graph& part, unsigned n, std::uint64_t& result) {
  if (n < 2) {
    result = n;
    return;
  }
  const auto both = std::make_shared<std::array<std::uint64_t, 2>>();
  auto sum = part.add([both, &result] { result = (*both)[0] + (*both)[1]; });
  for (unsigned i = 0; i < 2; ++i) {
    auto each = part.add([both, n, i](task_graph& inner) { add_fibonacci(inner, n - 1 - i, (*both)[i]); });
    each.precedes(sum);
  }
}

TEST_P(graph_parts, nest_to_any_depth) {
  run([] {
    std::uint64_t result = 0;
    task_graph g;
    g.add([&result](task_graph& part) { add_fibonacci(part, 14, result); });
    for (int round = 0; round < 2; ++round) {
      result = 0;
      g.run();
      EXPECT_EQ(result, 377U);
    }
  });
}

TEST_P(graph_parts, a_graph_may_be_a_task_of_another) {
  run([] {
    std::vector<int> order;
    task_graph inner;
    auto a = inner.add([&order] { order.push_back(2); });
    auto b = inner.add([&order] { order.push_back(3); });
    a.precedes(b);
    task_graph outer;
    auto before = outer.add([&order] { order.push_back(1); });
    auto module = outer.add("module", inner);
    auto again = outer.add(inner);
    auto after = outer.add([&order] { order.push_back(4); });
    before.precedes(module);
    module.precedes(again);
    again.precedes(after);
    for (int round = 0; round < 3; ++round) {
      order.clear();
      outer.run();
      EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 2, 3, 4}));
    }
    order.clear();
    inner.run();
    EXPECT_EQ(order, (std::vector<int>{2, 3}));
  });
}

TEST_P(graph_parts, may_have_conditions_and_be_in_loops) {
  run([] {
    int inner_steps = 0;
    int outer_steps = 0;
    task_graph g;
    auto begin = g.add([&outer_steps] { outer_steps = 0; });
    auto step = g.add([&inner_steps](task_graph& part) {
      const auto left = std::make_shared<int>(5);
      auto first = part.add([] {});
      auto count = part.add_condition([left, &inner_steps] {
        ++inner_steps;
        return --*left > 0 ? 0 : task_graph::k_none;
      });
      first.precedes(count);
      count.chooses(count);
    });
    auto again = g.add_condition([&outer_steps] { return ++outer_steps < 7 ? 0 : task_graph::k_none; });
    begin.precedes(step);
    step.precedes(again);
    again.chooses(step);
    g.run();
    EXPECT_EQ(inner_steps, 35);
  });
}

TEST_P(graph_parts, a_failure_of_a_part_is_one_of_the_whole) {
  run([] {
    int after = 0;
    bool fails = true;
    task_graph g;
    auto part = g.add([&](task_graph& inner) {
      auto bad = inner.add([&fails] {
        if (fails) throw std::runtime_error("bad");
      });
      bad.precedes(inner.add([&after] { ++after; }));
    });
    part.precedes(g.add([&after] { ++after; }));
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(after, 0);
    fails = false;
    g.run();
    EXPECT_EQ(after, 2);
  });
}

TEST_P(graph_parts, a_body_that_throws_while_it_adds_tasks_runs_none_of_them) {
  run([] {
    int runs = 0;
    bool fails = true;
    task_graph g;
    g.add([&](task_graph& part) {
      part.add([&runs] { ++runs; });
      if (fails) throw std::runtime_error("bad");
    });
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(runs, 0);
    fails = false;
    g.run();
    EXPECT_EQ(runs, 1);
  });
}

TEST_P(graph_parts, misuse_is_told) {
  run([] {
    std::string why;
    task_graph g;
    g.add([&why](task_graph& part) {
      try {
        part.run();
      } catch (const error& e) {
        why = e.what();
      }
    });
    g.run();
    EXPECT_NE(why.find("it runs when the task's body has ended"), std::string::npos) << why;

    task_graph itself;
    itself.add(itself);
    EXPECT_THROW(itself.run(), error);

    task_graph cyclic;
    cyclic.add([](task_graph& part) {
      auto a = part.add("a", [] {});
      a.precedes(a);
    });
    EXPECT_THROW(cyclic.run(), error);
  });
}

TEST_P(graph_parts, bodies_are_destroyed_when_the_part_has_ended) {
  run([] {
    const auto counted = std::make_shared<int>(0);
    task_graph g;
    auto part = g.add([counted](task_graph& inner) { inner.add([counted] { ++*counted; }); });
    long after = 0;
    part.precedes(g.add([&] { after = counted.use_count(); }));
    g.run();
    EXPECT_EQ(*counted, 1);
    EXPECT_EQ(after, 2);
  });
}

// One worker: the exception is known when the signals that precede it arrive.
TEST(graph_part, a_failure_of_the_whole_drops_what_has_not_begun_in_a_part) {
  run_pool(1, [] {
    std::atomic<int> begun{0};
    int after = 0;
    semaphore ends(0);
    task_graph g;
    g.add([&](task_graph& inner) {
      auto first = inner.add([&] {
        ++begun;
        ends.acquire();
      });
      first.precedes(inner.add([&after] { ++after; }));
    });
    g.add([&] {
      while (begun.load() == 0) yield();
      ends.release();
      throw std::runtime_error("bad");
    });
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(begun.load(), 1);
    EXPECT_EQ(after, 0);
  });
}

}  // namespace
}  // namespace shoal::sched
