// SPDX-License-Identifier: Apache-2.0
#include "shoal/task_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/error.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class task_graphs : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, task_graphs, testing::Values(1U, 2U, 4U));

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST_P(task_graphs, tasks_run_once_in_each_run_and_in_order) {
  run([] {
    std::vector<int> order;  // no lock: a chain is one after the other
    task_graph g;
    std::vector<task_graph::handle> made;
    for (int i = 0; i < 1000; ++i) {
      made.push_back(g.add([&order, i] { order.push_back(i); }));
      EXPECT_EQ(made.back().number(), static_cast<std::size_t>(i));
      if (i > 0) made[static_cast<std::size_t>(i) - 1].precedes(made.back());
    }
    for (int round = 0; round < 3; ++round) {
      order.clear();
      g.run();
      ASSERT_EQ(order.size(), 1000U);
      for (int i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  });
}

TEST_P(task_graphs, an_empty_graph_and_a_single_task_run) {
  run([] {
    task_graph g;
    g.run();
    int runs = 0;
    g.add("only", [&runs] { ++runs; });
    g.run();
    g.run();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(g.size(), 1U);
  });
}

TEST_P(task_graphs, a_random_graph_is_run_in_order_again_and_again) {
  run([] {
    constexpr std::size_t k_tasks = 600;
    xoshiro256ss random(17);
    std::vector<int> runs(k_tasks);  // not atomic: the order must make it visible
    std::vector<std::vector<std::size_t>> earlier(k_tasks);
    std::atomic<int> wrong{0};
    task_graph g;
    std::vector<task_graph::handle> made;
    for (std::size_t i = 0; i < k_tasks; ++i) {
      made.push_back(g.add([&, i] {
        for (const std::size_t e : earlier[i])
          if (runs[e] != runs[i] + 1) wrong.fetch_add(1);
        if (i % 50 == 7) yield();
        ++runs[i];
      }));
      for (std::uint64_t n = i == 0 ? 0 : random.below(5); n > 0; --n) {
        const std::size_t e = random.below(i);
        earlier[i].push_back(e);  // some of them twice
        made[i].succeeds(made[e]);
      }
    }
    for (int round = 1; round <= 20; ++round) {
      g.run();
      for (const int r : runs) ASSERT_EQ(r, round);
    }
    EXPECT_EQ(wrong.load(), 0);
  });
}

TEST_P(task_graphs, what_has_no_order_may_run_together) {
  run([] {
    latch met(3);
    task_graph g;
    auto first = g.add([] {});
    auto last = g.add([] {});
    for (int i = 0; i < 3; ++i) {
      auto between = g.add([&met] { met.arrive_and_wait(); });
      first.precedes(between);
      between.precedes(last);
    }
    g.run();
    EXPECT_TRUE(met.try_wait());
  });
}

TEST_P(task_graphs, a_graph_may_grow_between_runs) {
  run([] {
    int a = 0;
    int b = 0;
    task_graph g;
    auto first = g.add([&a] { ++a; });
    g.run();
    auto second = g.add([&] { b = a; });
    first.precedes(second);
    g.run();
    EXPECT_EQ(b, 2);
    g.clear();
    EXPECT_EQ(g.size(), 0U);
    g.run();
    EXPECT_EQ(a, 2);
  });
}

TEST_P(task_graphs, cycles_are_named_and_nothing_begins) {
  run([] {
    int runs = 0;
    task_graph g;
    auto before = g.add([&runs] { ++runs; });
    auto a = g.add("load", [&runs] { ++runs; });
    auto b = g.add([&runs] { ++runs; });
    auto c = g.add("store", [&runs] { ++runs; });
    auto after = g.add("after", [&runs] { ++runs; });
    before.precedes(a);
    a.precedes(b);
    b.precedes(c);
    c.precedes(a, after);
    const std::string why = refusal([&g] { g.run(); });
    EXPECT_NE(why.find("\"load\" -> task 2 -> \"store\" -> \"load\";"), std::string::npos) << why;
    EXPECT_EQ(why.find("after"), std::string::npos) << why;
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(refusal([&g] { g.run(); }), why) << "a second time";
    g.clear();
    auto self = g.add("self", [&runs] { ++runs; });
    self.precedes(self);
    EXPECT_NE(refusal([&g] { g.run(); }).find("\"self\" -> \"self\";"), std::string::npos);
  });
}

TEST_P(task_graphs, a_long_cycle_is_named_in_short) {
  run([] {
    task_graph g;
    std::vector<task_graph::handle> made;
    for (int i = 0; i < 1000; ++i) {
      made.push_back(g.add([] {}));
      if (i > 0) made[static_cast<std::size_t>(i) - 1].precedes(made.back());
    }
    made.back().precedes(made.front());
    const std::string why = refusal([&g] { g.run(); });
    EXPECT_NE(why.find("task 0 -> task 1 -> "), std::string::npos) << why;
    EXPECT_NE(why.find("968 more"), std::string::npos) << why;
    EXPECT_NE(why.find("task 999 -> task 0;"), std::string::npos) << why;
    EXPECT_LT(why.size(), 1000U);
  });
}

TEST_P(task_graphs, the_first_exception_is_thrown_and_the_rest_is_dropped) {
  run([] {
    int after = 0;
    bool fails = true;
    task_graph g;
    auto bad = g.add([&fails] {
      if (fails) throw std::runtime_error("bad");
    });
    auto last = g.add([&after] { ++after; });
    bad.precedes(last);
    EXPECT_THROW(g.run(), std::runtime_error);
    EXPECT_EQ(after, 0);
    fails = false;
    g.run();  // counters are in order after a failure
    EXPECT_EQ(after, 1);
    for (int i = 0; i < 100; ++i) g.add([] { throw std::runtime_error("many"); });
    EXPECT_THROW(g.run(), std::runtime_error);
  });
}

TEST_P(task_graphs, its_own_tasks_cannot_run_it_or_change_it) {
  run([] {
    task_graph g;
    std::array<std::string, 3> why;
    auto a = g.add([&] {
      why[0] = refusal([&] { g.run(); });
      why[1] = refusal([&] { g.add([] {}); });
    });
    auto b = g.add([&] { why[2] = refusal([&] { a.precedes(a); }); });
    a.precedes(b);
    g.run();
    for (const std::string& w : why) EXPECT_NE(w.find("while this task graph is running"), std::string::npos) << w;
  });
}

TEST_P(task_graphs, bodies_may_have_graphs_of_their_own_and_wait) {
  run([] {
    std::atomic<int> inner{0};
    task_graph g;
    for (int i = 0; i < 20; ++i)
      g.add([&inner] {
        task_graph own;
        auto a = own.add([&inner] { inner.fetch_add(1); });
        auto b = own.add([&inner] { inner.fetch_add(1); });
        a.precedes(b);
        own.run();
        task_group group;
        group.run([] { yield(); });
        group.wait();
      });
    g.run();
    EXPECT_EQ(inner.load(), 40);
  });
}

TEST(task_graph, a_long_chain_lets_others_run) {
  run_pool(1, [] {
    constexpr int k_tasks = 50'000;
    std::atomic<int> done{0};
    std::atomic<int> seen{k_tasks};
    semaphore first(0);
    task_group group;
    group.run([&] {
      first.acquire();
      seen = done.load();
    });
    yield();  // it waits now
    task_graph g;
    auto last = g.add([&] {
      ++done;
      first.release();
    });
    for (int i = 1; i < k_tasks; ++i) {
      auto next = g.add([&] { ++done; });
      last.precedes(next);
      last = next;
    }
    g.run();
    EXPECT_LT(seen.load(), k_tasks);
    group.wait();
    EXPECT_LT(seen.load(), k_tasks);
  });
}

TEST(task_graph_death, a_handle_of_nothing_is_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  task_graph g;
  auto a = g.add([] {});
  const task_graph::handle none;
  const char* const k_sentence = "this handle names no task";
  EXPECT_DEATH(none.precedes(a), k_sentence);
  EXPECT_DEATH(a.precedes(none), k_sentence);
  EXPECT_DEATH(a.succeeds(none), k_sentence);
  EXPECT_DEATH(none.number(), k_sentence);
}

TEST(task_graph_death, a_handle_of_before_clear_is_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  task_graph g;
  const auto old = g.add([] {});
  g.clear();
  const auto fresh = g.add([] {});
  const char* const k_sentence = "this handle is of before clear";
  EXPECT_DEATH(old.precedes(fresh), k_sentence);
  EXPECT_DEATH(fresh.precedes(old), k_sentence);
  EXPECT_DEATH(old.number(), k_sentence);
  EXPECT_EQ(fresh.number(), 0U);
}

TEST(task_graph, is_run_by_one_task_at_a_time) {
  for (int round = 0; round < 200; ++round)
    run_pool(2, [] {
      std::atomic<int> ran{0};
      std::atomic<int> refused{0};
      std::atomic<int> came{0};
      task_graph g;
      g.add([&] {
        ++ran;
        while (refused.load() == 0) yield();
      });
      const auto both_at_once = [&] {
        ++came;
        while (came.load() < 2) yield();
        try {
          g.run();
        } catch (const error& e) {
          EXPECT_NE(std::string(e.what()).find("run() is called while this task graph is running"), std::string::npos);
          ++refused;
        }
      };
      parallel_invoke(both_at_once, both_at_once);
      EXPECT_EQ(ran.load(), 1);
      EXPECT_EQ(refused.load(), 1);
      g.run();
      EXPECT_EQ(ran.load(), 2);
    });
}

TEST(task_graph, may_be_built_and_destroyed_without_a_pool_and_destroys_its_bodies) {
  struct alignas(128) wide {
    std::array<char, 40'000> bytes{};
  };
  const auto counted = std::make_shared<int>(0);
  {
    task_graph g;
    auto a = g.add([counted] { ++*counted; });
    auto b = g.add([counted, big = wide()] {
      if (reinterpret_cast<std::uintptr_t>(&big) % 128 == 0) ++*counted;
    });
    a.precedes(b);
    EXPECT_EQ(counted.use_count(), 3);
    run_pool(1, [&g] { g.run(); });
    run_pool(2, [&g] { g.run(); });
  }
  EXPECT_EQ(*counted, 4);
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace shoal::sched
