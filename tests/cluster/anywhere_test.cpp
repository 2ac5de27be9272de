// SPDX-License-Identifier: Apache-2.0
#include "shoal/anywhere.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/work_moves.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::anywhere_group;
using shoal::anywhere_tasks;
using shoal::array_ref;
using shoal::async_anywhere;
using shoal::global_array;
using shoal::node_local;
using shoal::node_local_ref;

class moving_work : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(moving_work);

using tally = std::atomic<std::uint64_t>;

std::uint64_t sum_of(const node_local<tally>& t) {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < shoal::node_count(); ++n) sum += shoal::on(n, [t = t.ref()] { return t->load(); });
  return sum;
}

// How many groups the nodes have something of.
std::uint64_t groups_left() {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < shoal::node_count(); ++n)
    sum += shoal::on(n, [] { return shoal::detail::this_port().context->moves->groups(); });
  return sum;
}

std::uint64_t requests_sent() {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < shoal::node_count(); ++n)
    sum += shoal::on(n, [] { return shoal::detail::this_port().context->moves->requests(); });
  return sum;
}

// An irregular binary tree: a task per node.
struct grow {
  std::uint64_t seed;
  unsigned depth;
  node_local_ref<tally> seen;

  bool has(unsigned child) const { return depth != 0 && shoal::splitmix64::at(seed, child) % 8 != 0; }
  grow child(unsigned i) const { return {shoal::splitmix64::at(seed, 2 + i), depth - 1, seen}; }
  void operator()(anywhere_tasks& tasks) const {
    seen->fetch_add(1, std::memory_order_relaxed);
    for (unsigned i = 0; i < 2; ++i)
      if (has(i)) tasks.run(child(i));
  }
  std::uint64_t size() const {
    std::uint64_t sum = 1;
    for (unsigned i = 0; i < 2; ++i)
      if (has(i)) sum += child(i).size();
    return sum;
  }
};

TEST_P(moving_work, each_task_of_a_group_runs_once_and_the_wait_is_for_all) {
  run([] {
    const node_local<tally> seen;
    std::uint64_t expected = 0;
    for (std::uint64_t round = 0; round < 20; ++round) {
      const grow root{shoal::mix64(round + 1), static_cast<unsigned>(round % 13), seen};
      anywhere_group group;
      group.run(root);
      group.wait();
      expected += root.size();
      ASSERT_EQ(sum_of(seen), expected);
    }
    EXPECT_EQ(groups_left(), 0U);
  });
}

TEST_P(moving_work, a_group_can_be_waited_for_again) {
  run([] {
    const node_local<tally> seen;
    anywhere_group group;
    group.wait();
    for (std::uint64_t round = 1; round <= 10; ++round) {
      for (int i = 0; i < 30; ++i) group.run([seen = seen.ref()] { seen->fetch_add(1); });
      group.wait();
      EXPECT_EQ(sum_of(seen), 30 * round);
    }
  });
}

// Goes on until every node has run one of its tasks.
struct until_all_take_part {
  array_ref<std::uint64_t> took_part;
  void operator()(anywhere_tasks& tasks) const {
    took_part.put(shoal::node_id(), 1);
    for (std::uint64_t n = 0; n < took_part.size(); ++n) {
      if (took_part.get(n) != 0) continue;
      tasks.run(*this);
      tasks.run(*this);
      shoal::yield();
      return;
    }
  }
};

TEST_P(moving_work, reaches_all_nodes) {
  run([this] {
    global_array<std::uint64_t> took_part(nodes());
    anywhere_group group;
    for (int round = 0; round < 3; ++round) {
      took_part->fill(0);
      group.run(until_all_take_part{took_part.ref()});
      group.wait();
    }
  });
}

struct fibonacci {
  unsigned n;
  std::uint64_t operator()() const {
    if (n < 2) return n;
    auto a = async_anywhere(fibonacci{n - 1});
    const std::uint64_t b = fibonacci{n - 2}();
    return a.get() + b;
  }
};

TEST_P(moving_work, futures_bring_results_from_wherever_the_task_ran) {
  run([] {
    EXPECT_EQ(async_anywhere(fibonacci{18}).get(), 2584U);
    EXPECT_EQ(fibonacci{15}(), 610U);
    std::vector<shoal::future<std::uint64_t>> all;
    for (std::uint64_t i = 0; i < 500; ++i)
      all.push_back(async_anywhere([i] { return i * i; }).then([](std::uint64_t square) { return square + 1; }));
    for (std::uint64_t i = 0; i < 500; ++i) EXPECT_EQ(all[i].get(), i * i + 1);
    auto nothing = async_anywhere([] {});
    nothing.wait();
    nothing.get();
    async_anywhere([] {});  // the destructor waits
  });
}

TEST_P(moving_work, futures_are_answered_by_all_nodes) {
  run([this] {
    std::vector<bool> answered(nodes());
    for (unsigned missing = nodes(); missing > 0;) {
      std::array<shoal::future<std::uint32_t>, 8> some;
      for (auto& f : some)
        f = async_anywhere([] {
          shoal::yield();
          return shoal::node_id();
        });
      shoal::yield();
      for (auto& f : some) {
        const std::uint32_t by = f.get();
        missing -= answered[by] ? 0 : 1;
        answered[by] = true;
      }
    }
  });
}

TEST_P(moving_work, a_loop_at_anywhere_runs_each_iteration_once) {
  run([] {
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{10007}}) {
      global_array<std::uint32_t> runs(n + 1);
      shoal::parallel_for(shoal::anywhere, n, [r = runs.ref()](std::uint64_t i) { r.async_add(i, 1); });
      for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(runs->get(i), 1U) << i << " of " << n;
      EXPECT_EQ(runs->get(n), 0U);
    }
    global_array<std::uint32_t> runs(1000);
    shoal::parallel_for(
        shoal::anywhere, -500, 500, [r = runs.ref()](int i) { r.add(static_cast<std::uint64_t>(i + 500), 1); },
        shoal::simple_partitioner{3});
    shoal::parallel_for(
        shoal::anywhere, 100, 1000,
        [r = runs.ref()](const shoal::range1d& part) {
          for (std::uint64_t i = part.begin(); i < part.end(); ++i) r.add(i, 1);
        },
        shoal::auto_partitioner{});
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(runs->get(i), i < 100 ? 1U : 2U);
  });
}

TEST_P(moving_work, loops_and_groups_nest) {
  run([] {
    constexpr std::uint64_t k_outer = 30;
    constexpr std::uint64_t k_inner = 50;
    global_array<std::uint32_t> cells(k_outer * k_inner);
    shoal::parallel_for(shoal::anywhere, k_outer, [r = cells.ref()](std::uint64_t i) {
      shoal::parallel_for(shoal::anywhere, k_inner, [r, i](std::uint64_t k) { r.async_add(i * k_inner + k, 1); });
      anywhere_group group;
      for (std::uint64_t k = 0; k < k_inner; ++k) group.run([r, i, k] { r.async_add(i * k_inner + k, 1); });
      group.wait();
      for (std::uint64_t k = 0; k < k_inner; ++k)
        if (r.get(i * k_inner + k) != 2) throw std::runtime_error("a wait has returned too early");
    });
    for (std::uint64_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells->get(i), 2U);
    EXPECT_EQ(groups_left(), 0U);
  });
}

TEST_P(moving_work, moves_beside_work_that_stays) {
  run([] {
    const node_local<tally> seen;
    const grow root{5, 11, seen};
    std::atomic<int> local{0};
    shoal::task_group stays;
    anywhere_group moves;
    moves.run(root);
    for (int i = 0; i < 200; ++i)
      stays.run([&local] {
        shoal::parallel_for(shoal::here, 10, [&local](int) { ++local; });
        shoal::yield();
      });
    stays.wait();
    moves.wait();
    EXPECT_EQ(local, 2000);
    EXPECT_EQ(sum_of(seen), root.size());
  });
}

// Spreads, and one of its leaves throws.
struct throws_somewhere {
  unsigned depth;
  unsigned bad;
  void operator()(anywhere_tasks& tasks) const {
    if (depth == 0 && bad == 0) throw std::invalid_argument("a bad leaf");
    if (depth == 0) return;
    tasks.run(throws_somewhere{depth - 1, bad % 2 == 0 ? bad / 2 : 1000});
    tasks.run(throws_somewhere{depth - 1, bad % 2 == 1 ? bad / 2 : 1000});
  }
};

template <class Wait>
void expect_remote_error(const Wait& wait, const std::string& message) {
  try {
    wait();
    FAIL() << "nothing was thrown";
  } catch (const shoal::remote_error& e) {
    EXPECT_EQ(e.type(), "std::invalid_argument");
    EXPECT_EQ(e.message(), message);
    EXPECT_LT(e.node(), shoal::node_count());
  }
}

TEST_P(moving_work, exceptions_arrive_at_the_wait) {
  run([] {
    anywhere_group group;
    for (unsigned bad = 0; bad < 20; ++bad) {
      group.run(throws_somewhere{9, bad});
      expect_remote_error([&] { group.wait(); }, "a bad leaf");
    }
    group.run([] {});
    group.wait();
    for (int i = 0; i < 50; ++i) {
      auto f = async_anywhere([]() -> int { throw std::invalid_argument("a bad future"); });
      shoal::yield();
      expect_remote_error([&] { f.get(); }, "a bad future");
    }
    expect_remote_error(
        [] {
          shoal::parallel_for(shoal::anywhere, 1000, [](int i) {
            if (i == 700) throw std::invalid_argument("a bad iteration");
          });
        },
        "a bad iteration");
    EXPECT_EQ(groups_left(), 1U);  // the one above
  });
}

TEST_P(moving_work, jobs_that_move_nothing_send_no_requests) {
  run([] {
    global_array<std::uint64_t> a(1000);
    shoal::parallel_for(shoal::everywhere, 1000, [r = a.ref()](std::uint64_t i) { r.add((i * 7) % 1000, 1); });
    EXPECT_EQ(requests_sent(), 0U);
  });
}

TEST_P(moving_work, nodes_without_work_ask_each_lifeline_once_and_are_silent_then) {
  run([] {
    const node_local<tally> seen;
    anywhere_group group;
    group.run(grow{3, 10, seen});
    group.wait();
    std::uint64_t before = requests_sent();  // nodes may still be asking, a bounded number of times
    for (int looks = 0; looks < 1000; ++looks) {
      shoal::parallel_for(shoal::everywhere, 64, [](int) { shoal::yield(); });
      const std::uint64_t now = requests_sent();
      if (now == before && looks > 10) return;
      before = now;
    }
    FAIL() << "nodes ask without end";
  });
}

class moving_work_in : public testing::TestWithParam<unsigned> {
protected:
  template <class F>
  void run(unsigned workers, F&& main_task) const {
    auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
    c.nodes = GetParam();
    c.workers = workers;
    c.direct = false;
    c.pin = false;
    c.segment_bytes = std::uint64_t{1} << 28;
    c.most_stacks = 1 << 12;
    shoal::runtime::run_in_process(c, [&main_task] { return main_task(), 0; });
  }
};
INSTANTIATE_TEST_SUITE_P(nodes, moving_work_in, testing::Values(1U, 2U, 3U, 4U, 8U), testing::PrintToStringParamName());

// Many small groups one after the other: each ends while nodes still ask for its work, or get some.
TEST_P(moving_work_in, many_small_groups_all_end) {
  run(2, [] {
    const node_local<tally> seen;
    std::uint64_t expected = 0;
    for (std::uint64_t round = 0; round < 20'000 / shoal::node_count(); ++round) {
      const grow root{shoal::mix64(round), static_cast<unsigned>(1 + round % 7), seen};
      anywhere_group group;
      group.run(root);
      if (round % 3 == 0) group.run(root);
      group.wait();
      expected += root.size() * (round % 3 == 0 ? 2 : 1);
      if (round % 100 == 0) {
        ASSERT_EQ(sum_of(seen), expected) << round;
      }
    }
    EXPECT_EQ(sum_of(seen), expected);
    EXPECT_EQ(groups_left(), 0U);
  });
}

TEST_P(moving_work_in, many_groups_at_the_same_time_all_end) {
  run(2, [] {
    const node_local<tally> seen;
    shoal::parallel_for(shoal::everywhere, 400, [seen = seen.ref()](std::uint64_t i) {
      anywhere_group group;
      group.run(grow{shoal::mix64(i), static_cast<unsigned>(i % 8), seen});
      group.wait();
    });
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < 400; ++i)
      expected += grow{shoal::mix64(i), static_cast<unsigned>(i % 8), seen}.size();
    EXPECT_EQ(sum_of(seen), expected);
    EXPECT_EQ(groups_left(), 0U);
  });
}

TEST(moving_work_misuse, outside_of_a_job_is_refused) {
  const auto in_pool = [](void (*body)()) {
    shoal::pool pool(1);
    pool.run(body);
  };
  EXPECT_DEATH(in_pool([] { async_anywhere([] {}); }), "this is for tasks of a job");
  EXPECT_DEATH(in_pool([] {
                 anywhere_group group;
                 group.run([] {});
               }),
               "this is for tasks of a job");
  EXPECT_DEATH(async_anywhere([] {}), "this is for tasks");
}

}  // namespace
