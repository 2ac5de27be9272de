// SPDX-License-Identifier: Apache-2.0
// Requests to stop, and limits, of tasks in an order: flows and graphs, of every way in which their tasks begin.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>

#include "shoal/sleep.hpp"
#include "shoal/stop_scope.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;
using std::chrono::milliseconds;

class stopping_in_order : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, stopping_in_order, testing::Values(1U, 2U, 4U));

// Gives `f` in every way to a flow; all but the first one come after it.
void give_all(shoal::task_flow& flow, int& x, int& sum, const std::function<void()>& f) {
  flow.run(shoal::inout(x), f);
  flow.run(shoal::in(x), f);
  flow.run(shoal::in(x), shoal::commutative(sum), f);
  flow.run(shoal::in(x), shoal::commutative(sum), f);
  flow.run(shoal::priority::high, shoal::in(x), f);
  flow.run(shoal::priority::low, shoal::in(x), shoal::commutative(sum), f);
}
constexpr int k_given = 6;

TEST_P(stopping_in_order, tasks_see_the_request_and_run_all_the_same) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    std::atomic<int> seen{0};
    int x = 0;
    int sum = 0;
    shoal::task_flow flow;
    shoal::task_graph graph;
    shoal::task_graph part;
    const auto look = [&] {
      shoal::yield();
      seen += shoal::stop_requested() ? 1 : 0;
    };
    const auto first = graph.add([&] { scope.request_stop(); });
    for (int i = 0; i < 3; ++i) first.precedes(graph.add(look));
    part.add(look);
    first.precedes(graph.add(part), graph.add([&](shoal::task_graph& filled) { filled.add(look); }));
    scope.run([&] {
      flow.run(shoal::inout(x), [&] {
        EXPECT_FALSE(shoal::stop_requested());
        graph.run();
      });
      give_all(flow, x, sum, look);
    });
    flow.wait();
    EXPECT_EQ(seen, 5 + k_given);
    EXPECT_FALSE(shoal::stop_requested()) << "this task is in no scope";
    const auto in_none = [&] { EXPECT_FALSE(shoal::stop_requested()); };
    flow.run(in_none);  // the scope is of the first unfinished task only
    flow.wait();
    graph.clear();
    graph.add(in_none);
    graph.run();
  });
}

TEST_P(stopping_in_order, a_flow_begins_no_further_task_and_destroys_the_bodies) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    std::atomic<int> ran{0};
    int x = 0;
    int sum = 0;
    const auto kept = std::make_shared<int>(0);
    const auto count = [&ran, kept] { ++ran; };
    shoal::task_flow flow(scope, 16);
    EXPECT_EQ(flow.most_unfinished(), 16);
    give_all(flow, x, sum, count);
    flow.wait();
    EXPECT_EQ(ran, k_given);
    flow.run(shoal::inout(x), [&] {
      scope.request_stop();
      shoal::yield();
      EXPECT_TRUE(shoal::stop_requested()) << "what runs, runs to its end";
      ++ran;
    });
    give_all(flow, x, sum, count);
    flow.wait();
    EXPECT_EQ(ran, k_given + 1);
    for (int i = 0; i < 20; ++i) give_all(flow, x, sum, count);  // before the first task; more than may be unfinished
    EXPECT_TRUE(flow.wait_for(std::chrono::minutes(1)));
    EXPECT_EQ(ran, k_given + 1);
    EXPECT_EQ(kept.use_count(), 2) << "this one, and that of count";
  });
}

TEST_P(stopping_in_order, an_exception_is_thrown_whether_a_stop_was_requested_or_not) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    std::atomic<int> ran{0};
    int x = 0;
    const auto fails = [&] {
      scope.request_stop();
      throw std::runtime_error("the first one");
    };
    shoal::task_flow flow(scope);
    flow.run(shoal::inout(x), fails);
    flow.run(shoal::inout(x), [&] { ++ran; });
    EXPECT_THROW(flow.wait(), std::runtime_error);
    flow.run([&] { ++ran; });
    flow.wait();
    shoal::stop_scope another;
    shoal::task_graph graph;
    graph
        .add([&] {
          another.request_stop();
          throw std::runtime_error("the first one");
        })
        .precedes(graph.add([&] { ++ran; }));
    EXPECT_THROW(graph.run(another), std::runtime_error);
    graph.run(another);
    EXPECT_EQ(ran, 0);
  });
}

TEST_P(stopping_in_order, scopes_within_scopes) {
  run_pool(GetParam(), [] {
    std::atomic<int> ran{0};
    const auto count = [&] { ++ran; };
    shoal::task_graph graph;
    graph.add(count);
    {
      shoal::task_flow in_none(shoal::in_scope);
      in_none.run(count);
      in_none.wait();
      graph.run(shoal::in_scope);
      EXPECT_EQ(ran, 2);
    }
    shoal::stop_scope outer;
    outer.run([&] {
      shoal::stop_scope inner;
      shoal::task_flow of_inner(inner);
      shoal::task_flow of_outer(shoal::in_scope);
      inner.request_stop();
      of_inner.run(count);
      of_inner.wait();
      graph.run(inner);
      EXPECT_EQ(ran, 2);
      of_outer.run(count);
      of_outer.wait();
      graph.run(shoal::in_scope);
      EXPECT_EQ(ran, 4);
      outer.request_stop();
      of_outer.run(count);
      of_outer.wait();
      graph.run(shoal::in_scope);
      graph.run(shoal::stop_scope());
      EXPECT_EQ(ran, 4);
      graph.run();
      EXPECT_EQ(ran, 5);
    });
  });
}

// In the middle of a run; the next one is whole again.
TEST_P(stopping_in_order, a_graph_begins_no_further_task_and_runs_again) {
  run_pool(GetParam(), [] {
    for (const bool on_terms : {false, true}) {
      shoal::stop_scope scope;
      std::atomic<int> ran{0};
      int used = 0;
      const auto count = [&] { ++ran; };
      shoal::task_graph part;
      part.add(count).precedes(part.add(count));
      shoal::task_graph graph;
      const auto before = graph.add(count);
      const auto stops = graph.add(
          [&](shoal::task_graph& filled) { filled.add([&] { scope.request_stop(); }).precedes(filled.add(count)); });
      const auto last = graph.add(count);
      before.precedes(stops);
      for (int i = 0; i < 10; ++i) {
        const auto middle = i == 0 ? graph.add(part) : graph.add(count);
        stops.precedes(middle);
        middle.precedes(last);
        if (on_terms) middle.uses(used);
        if (on_terms && i % 2 == 0) middle.set_priority(shoal::priority::low);
      }
      graph.run(scope);
      EXPECT_EQ(ran, 1);
      graph.run(scope);
      EXPECT_EQ(ran, 1) << "a stop was requested before the first task";
      graph.run();
      EXPECT_EQ(ran, 1 + 14);
    }
  });
}

TEST_P(stopping_in_order, a_limit_ends_a_graph_that_has_no_end) {
  run_pool(GetParam(), [] {
    std::atomic<int> rounds{0};
    std::atomic<int> finished{0};
    int used = 0;
    shoal::task_graph graph;
    const auto begins = graph.add_condition([] { return 0; });
    const auto step = graph.add([&] { ++rounds; });
    const auto beside = graph.add([] {});
    const auto again = graph.add_condition([&] { return rounds < 0 ? 1 : 0; });
    const auto finish = graph.add([&] { ++finished; });
    begins.chooses(step);
    step.precedes(beside);
    beside.precedes(again);
    beside.uses(used);
    again.chooses(step, finish);
    for (const milliseconds limit : {milliseconds(0), milliseconds(3), milliseconds(3)}) {
      shoal::stop_scope scope(limit);
      graph.run(scope);
      EXPECT_TRUE(scope.timed_out());
    }
    EXPECT_EQ(finished, 0);
    EXPECT_GT(rounds, 0);
    shoal::stop_scope in_time(std::chrono::minutes(10));
    rounds = -10;
    graph.run(in_time);
    EXPECT_EQ(rounds, -9);
    EXPECT_EQ(finished, 1);
    EXPECT_FALSE(in_time.stop_requested());
  });
}

}  // namespace
