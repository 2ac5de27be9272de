// SPDX-License-Identifier: Apache-2.0
// Runnable, submitted and low tasks run although a worker has work to run inline, or tasks that yield. Counts bodies,
// not time: a slow machine only makes the counts smaller.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "pool_run.hpp"
#include "shoal/future.hpp"
#include "shoal/loop.hpp"
#include "shoal/priority.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::sched {
namespace {

constexpr int k_bodies = 1000;
constexpr int k_soon = 128;  // bodies: the clock is read once in 64 at least, and the first looks may find time left

void tree(int bodies, const std::function<void()>& body) {
  if (bodies == 1) return body();
  parallel_invoke([&] { tree(bodies / 2, body); }, [&] { tree(bodies - bodies / 2, body); });
}

// The ways to run bodies one after another on one worker.
void run_bodies(const std::string& kind, const std::function<void()>& body) {
  if (kind == "group") {
    task_group group;
    for (int i = 0; i < k_bodies; ++i) group.run([&body] { body(); });
    group.wait();
  } else if (kind == "invoke") {
    tree(k_bodies, body);
  } else if (kind == "future") {
    std::vector<future<void>> all;
    for (int i = 0; i < k_bodies; ++i) all.push_back(async([&body] { body(); }));
    while (!all.empty()) {
      all.back().get();
      all.pop_back();
    }
  } else if (kind == "then") {
    future<void> last = async([&body] { body(); });
    for (int i = 1; i < k_bodies; ++i) last = last.then([&body] { body(); });
    last.get();
  } else if (kind == "loop") {
    parallel_for(0, k_bodies, [&body](int) { body(); });
  } else if (kind == "simple_loop") {
    parallel_for(
        0, k_bodies, [&body](int) { body(); }, simple_partitioner{1});
  } else if (kind == "flow") {
    task_flow flow;
    int data = 0;
    for (int i = 0; i < k_bodies; ++i) flow.run(inout(data), [&body] { body(); });
    flow.wait();
  } else if (kind == "graph") {
    task_graph graph;
    std::vector<task_graph::handle> all;
    for (int i = 0; i < k_bodies; ++i) {
      all.push_back(graph.add([&body] { body(); }));
      if (i != 0) all[static_cast<std::size_t>(i) - 1].precedes(all.back());
    }
    graph.run();
  } else {
    task_group group;
    for (int t = 0; t < 4; ++t)
      group.run([&body] {
        for (int i = 0; i < k_bodies / 4; ++i) {
          body();
          yield();
        }
      });
    group.wait();
  }
}

class fairness : public testing::TestWithParam<const char*> {
protected:
  // Runs bodies of some time; `event` happens in the tenth.
  void run_with(const std::function<void()>& event) {
    run_bodies(GetParam(), [&] {
      const std::uint64_t end_ns = base::now_ns() + 10'000;
      while (base::now_ns() < end_ns)
        ;
      if (++ran_ == 10) event();
    });
    EXPECT_EQ(ran_, k_bodies);
  }
  std::atomic<int> ran_{0};
};
INSTANTIATE_TEST_SUITE_P(behind, fairness,
                         testing::Values("group", "invoke", "future", "then", "loop", "simple_loop", "flow", "graph",
                                         "yield"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(fairness, a_woken_task_runs_soon) {
  run_pool(1, [this] {
    semaphore event(0);
    std::atomic<int> at{0};
    task_group waiting;
    std::atomic<bool> waits{false};
    waiting.run([&] {
      waits = true;
      event.acquire();
      at = ran_.load();
    });
    while (!waits) yield();
    run_with([&] { event.release(); });
    waiting.wait();
    EXPECT_LE(at, 10 + k_soon);
  });
}

TEST_P(fairness, a_submitted_task_begins_soon) {
  run_pool(1, [this] {
    struct noting final : errand {
      std::atomic<int>* from = nullptr;
      std::atomic<int> at{0};
    } submitted;
    submitted.from = &ran_;
    submitted.run = [](detail::task& t) noexcept {
      auto& self = static_cast<noting&>(static_cast<errand&>(t));
      self.at = self.from->load();
    };
    run_with([&] { this_worker()->owner().submit(submitted); });
    EXPECT_GT(submitted.at, 0);
    EXPECT_LE(submitted.at, 10 + k_soon);
  });
}

// Each has children that use the budget up: were all to begin, each would keep a stack.
TEST(submitted_tasks, with_children_begin_a_few_at_a_time_and_hold_no_woken_task_back) {
  run_pool(1, [] {
    constexpr int k_tasks = 300;
    struct counting final : errand {
      std::atomic<int>* open = nullptr;
      std::atomic<int>* most = nullptr;
      std::atomic<int>* ended = nullptr;
    };
    std::atomic<int> open{0};
    std::atomic<int> most{0};
    std::atomic<int> ended{0};  // partner: the loop that waits for all
    std::vector<counting> all(k_tasks);
    for (counting& c : all) {
      c.open = &open;
      c.most = &most;
      c.ended = &ended;
      c.run = [](detail::task& t) noexcept {
        auto& self = static_cast<counting&>(static_cast<errand&>(t));
        const int now = ++*self.open;
        if (now > *self.most) *self.most = now;  // one worker
        task_group group;
        for (int i = 0; i < 4; ++i)
          group.run([] {
            const std::uint64_t end_ns = base::now_ns() + 10'000;
            while (base::now_ns() < end_ns)
              ;
          });
        group.wait();
        --*self.open;
        ++*self.ended;
      };
    }
    semaphore event(0);
    std::atomic<int> at{-1};
    task_group waiting;
    std::atomic<bool> waits{false};
    waiting.run([&] {
      waits = true;
      event.acquire();
      at = ended.load();
    });
    while (!waits) yield();
    for (counting& c : all) this_worker()->owner().submit(c);
    event.release();
    while (ended < k_tasks) yield();
    waiting.wait();
    EXPECT_LE(most, 32);
    EXPECT_LT(at, 64);
  });
}

TEST(yields, low_tasks_and_tasks_that_have_not_begun_run_beside_tasks_that_yield) {
  run_pool(1, [] {
    std::atomic<bool> low{false};
    std::atomic<bool> normal{false};
    task_group group;
    group.run(priority::low, [&] { low = true; });
    group.run([&] { normal = true; });
    int yields = 0;
    for (; yields < 1'000'000 && !(low && normal); ++yields) yield();
    EXPECT_TRUE(low);
    EXPECT_TRUE(normal);
    group.wait();
  });
}

// Each that has begun yields until the next one has ended: more than k_most_interposed of them.
TEST(yields, tasks_and_iterations_wait_by_yielding_for_those_that_have_not_begun) {
  for (const unsigned workers : {1U, 2U})
    run_pool(workers, [] {
      constexpr int k_links = 60;
      std::array<std::atomic<bool>, k_links + 1> ended{};
      const auto link = [&ended](int i) {
        while (!ended[i + 1].load()) yield();
        ended[i].store(true);
      };
      ended[k_links].store(true);
      parallel_for(k_links, link);
      EXPECT_TRUE(ended[0].load());
      for (int i = 0; i < k_links; ++i) ended[i].store(false);
      task_group group;
      for (int i = k_links - 1; i >= 0; --i) group.run([&link, i] { link(i); });  // the newest begins first
      group.wait();
      EXPECT_TRUE(ended[0].load());
    });
}

TEST(yields, steal_from_a_worker_that_is_occupied) {
  run_pool(2, [] {
    std::atomic<bool> ran{false};
    std::atomic<bool> spawned{false};
    task_group group;
    group.run([&] {  // on the other worker, which gives nothing away by itself
      task_group inner;
      inner.run([&] { ran = true; });
      spawned = true;
      while (!ran) std::this_thread::yield();
      inner.wait();
    });
    while (!spawned) std::this_thread::yield();
    while (!ran) yield();
    group.wait();
  });
}

// A chain of urgent tasks: each begins the next.
struct chain {
  task_group group;
  std::atomic<int> length{0};
  void go_on() {
    if (++length < 100'000) group.run(priority::high, [this] { go_on(); });
  }
};

TEST(high_priority, a_chain_of_urgent_tasks_holds_no_other_task_back) {
  run_pool(1, [] {
    chain urgent;
    semaphore event(0);
    std::atomic<int> at{0};
    std::atomic<bool> waits{false};
    task_group waiting;
    waiting.run([&] {
      waits = true;
      event.acquire();
      at = urgent.length.load();
    });
    while (!waits) yield();
    event.release();
    struct noting final : errand {
      chain* beside = nullptr;
      std::atomic<int> at{0};
    } submitted;
    submitted.beside = &urgent;
    submitted.run = [](detail::task& t) noexcept {
      auto& self = static_cast<noting&>(static_cast<errand&>(t));
      self.at = self.beside->length.load();
    };
    this_worker()->owner().submit(submitted);
    std::atomic<int> normal_at{0};
    task_group normal;
    normal.run([&] { normal_at = urgent.length.load(); });
    urgent.group.run(priority::high, [&] { urgent.go_on(); });
    urgent.group.wait();
    waiting.wait();
    normal.wait();
    EXPECT_LT(at, 10'000);
    EXPECT_LT(submitted.at, 10'000);
    EXPECT_LT(normal_at, 10'000);
    EXPECT_EQ(urgent.length, 100'000);
  });
}

}  // namespace
}  // namespace shoal::sched
