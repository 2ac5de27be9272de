// SPDX-License-Identifier: Apache-2.0
// Model test of the inbox: every node is taken once, completely, in the order of its producer; and exactly one of the
// producers that push into an empty inbox is told so.
#include "lockfree/inbox.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

struct task : lockfree::inbox_node<model_atomics> {
  int producer = 0;
  int number = 0;
  model_plain<int> content{0};
};

struct table {
  void push(int producer, int number) {
    task* made = &stock[static_cast<std::size_t>(producer)][static_cast<std::size_t>(number)];
    made->producer = producer;
    made->number = number;
    made->content.write(10 * producer + number);
    ++pushed;
    if (tasks.push(made)) ++found_empty;
  }
  void take() {
    auto* node = tasks.take_all();
    if (node != nullptr) ++takes;
    while (node != nullptr) {
      task& got = static_cast<task&>(*node);
      node = node->next.read();
      ++taken;
      check(got.content.read() == 10 * got.producer + got.number, "a task is complete");
      check(got.number == next[got.producer]++, "tasks of one producer come in order, each once");
    }
  }

  lockfree::inbox<model_atomics> tasks;
  task stock[3][3];
  int next[3] = {0, 0, 0};
  int pushed = 0, taken = 0, found_empty = 0, takes = 0;
};

scenario with(std::vector<int> pushes, int takes) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    for (std::size_t p = 0; p < pushes.size(); ++p)
      run.thread("producer", [t, p, n = pushes[p]] {
        for (int i = 0; i < n; ++i) t->push(static_cast<int>(p), i);
      });
    run.thread("consumer", [t, takes] {
      for (int i = 0; i < takes; ++i) t->take();
    });
    run.finally([t] {
      t->take();
      check(t->taken == t->pushed, "no task is forgotten");
      check(t->found_empty == t->takes, "one producer per take found the inbox empty");
      check(t->tasks.empty() && t->tasks.take_all() == nullptr, "empty at the end");
    });
  };
}

// A node is passed back and forth: each taker sees the writes of the previous one.
const scenario k_node_used_again = [](execution& run) {
  struct pair {
    lockfree::inbox<model_atomics> there, back;
    task one;
  };
  auto p = std::make_shared<pair>();
  run.thread("asker", [p] {
    p->one.content.write(1);
    p->there.push(&p->one);
    for (int i = 0; i < 3; ++i)
      if (p->back.take_all() != nullptr) check(p->one.content.read() == 2, "the answer is complete");
  });
  run.thread("answerer", [p] {
    for (int i = 0; i < 3; ++i)
      if (p->there.take_all() != nullptr) {
        check(p->one.content.read() == 1, "the question is complete");
        p->one.content.write(2);
        p->back.push(&p->one);
      }
  });
};

// Two threads take at the same time: each gets nodes of its own, completely.
const scenario k_two_takers = [](execution& run) {
  struct shared {
    lockfree::inbox<model_atomics> tasks;
    task stock[2][2];
    int taken[2] = {0, 0};
  };
  auto s = std::make_shared<shared>();
  for (int p = 0; p < 2; ++p)
    run.thread("producer", [s, p] {
      for (task& made : s->stock[p]) {
        made.content.write(1);
        s->tasks.push(&made);
      }
    });
  const auto take = [s](int t) {
    for (auto* node = s->tasks.take_all(); node != nullptr;) {
      task& got = static_cast<task&>(*node);
      node = node->next.read();
      check(got.content.read() == 1, "a task is complete, and nobody else has taken it");
      got.content.write(2);
      ++s->taken[t];
    }
  };
  for (int t = 0; t < 2; ++t)
    run.thread("taker", [take, t] {
      take(t);
      take(t);
    });
  run.finally([s, take] {
    take(0);
    check(s->taken[0] + s->taken[1] == 4, "each task is taken once");
  });
};

const std::vector<scenario> k_all{with({1}, 2), with({2, 2}, 3), with({2, 2, 1}, 2), k_node_used_again, k_two_takers};

TEST(inbox, two_producers_all_executions_with_three_preemptions) {
  const outcome o = explore(with({1, 1}, 2), systematically(3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(inbox, every_node_is_taken_once_and_in_order) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(50'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(inbox, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "inbox.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 2U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
