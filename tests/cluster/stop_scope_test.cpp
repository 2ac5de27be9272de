// SPDX-License-Identifier: Apache-2.0
// Scopes of stop requests over nodes: loops, calls and groups take them along, time limits end them, and nothing is left.
// Waits with a limit for groups whose tasks run anywhere.
#include "shoal/stop_scope.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cluster/loop_stops.hpp"
#include "cluster/work_moves.hpp"
#include "shoal/anywhere.hpp"
#include "shoal/future.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/sleep.hpp"
#include "shoal/spmd.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using std::chrono::milliseconds;

class scopes : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(scopes);

// But for so many groups that are open on node 0.
void nothing_is_left(std::size_t open = 0) {
  shoal::spmd([open](shoal::team&) {
    const auto& here = *shoal::detail::this_port().context;
    EXPECT_EQ(here.stops->size(), 0U);
    EXPECT_EQ(here.moves->groups(), shoal::node_id() == 0 ? open : 0U);
  });
}

// Runs until its scope stops; says how often it has looked.
struct patient {
  std::uint64_t operator()() const {
    std::uint64_t looks = 1;
    for (; !shoal::stop_requested(); ++looks) shoal::yield();
    return looks;
  }
};

TEST_P(scopes, a_time_limit_ends_loops_on_all_nodes) {
  run([] {
    shoal::stop_scope scope(milliseconds(20));
    scope.run([] {
      shoal::parallel_for(
          shoal::everywhere, std::uint64_t{1} << 40, [](std::uint64_t) { shoal::yield(); }, shoal::in_scope);
      // A body sees the request, too, and what it begins there belongs to the scope.
      shoal::parallel_for(shoal::everywhere, 2 * shoal::node_count(), [](std::uint32_t) { patient()(); });
    });
    EXPECT_TRUE(scope.timed_out());
    shoal::stop_scope second(milliseconds(20));
    const auto sum = second.run([] {
      return shoal::parallel_reduce(
          shoal::everywhere, std::uint64_t{1} << 40, std::uint64_t{0},
          [](std::uint64_t) { return shoal::yield(), std::uint64_t{1}; }, std::plus<>(), shoal::in_scope);
    });
    EXPECT_LT(sum, std::uint64_t{1} << 40);
    nothing_is_left();
  });
}

TEST_P(scopes, loops_wait_for_the_request_on_other_nodes) {
  run([] {
    shoal::stop_scope scope(milliseconds(20));
    scope.run([] { shoal::parallel_for(shoal::everywhere, shoal::node_count(), [](std::uint32_t) { patient()(); }); });
    EXPECT_TRUE(scope.stop_requested());
    nothing_is_left();
  });
}

TEST_P(scopes, calls_on_any_node_see_the_request) {
  run([] {
    for (std::uint32_t node = 0; node < shoal::node_count(); ++node) {
      shoal::stop_scope scope(milliseconds(5));
      EXPECT_GT(scope.run([node] { return shoal::on(node, patient()); }), 0U);
    }
    shoal::stop_scope scope;
    std::vector<shoal::future<std::uint64_t>> calls;
    scope.run([&calls] {
      for (std::uint32_t node = 0; node < shoal::node_count(); ++node)
        calls.push_back(shoal::async_on(node, patient()));
    });
    for (auto& call : calls) EXPECT_FALSE(call.wait_for(milliseconds(1)));
    scope.request_stop();
    for (auto& call : calls) EXPECT_GT(call.get(), 0U);
    calls.clear();
    // Calls outside of the scope, and in one that nobody stops.
    EXPECT_FALSE(shoal::on(shoal::node_count() - 1, [] { return shoal::stop_requested(); }));
    shoal::stop_scope quiet;
    EXPECT_FALSE(quiet.run([] { return shoal::on(shoal::node_count() - 1, [] { return shoal::stop_requested(); }); }));
    nothing_is_left();
  });
}

TEST_P(scopes, stop_at_any_moment) {
  run([] {
    for (int round = 0; round < 60; ++round) {
      shoal::stop_scope scope(std::chrono::microseconds(10 * round));
      scope.run([round] {
        const auto there = static_cast<std::uint32_t>(round) % shoal::node_count();
        auto call = shoal::async_on(there, [] { return shoal::yield(), 1; });
        EXPECT_EQ(shoal::on(there, [] { return shoal::yield(), 2; }), 2);
        shoal::parallel_for(
            shoal::everywhere, 64, [](int) { shoal::yield(); }, shoal::in_scope);
        EXPECT_EQ(shoal::parallel_reduce(
                      shoal::everywhere, 64, 0, [](int) { return 1; }, std::plus<>()),
                  64);
        EXPECT_EQ(call.get(), 1);
      });
    }
    nothing_is_left();
  });
}

// Begins another of its kind for ever; each may move on.
struct endless {
  void operator()(shoal::anywhere_tasks& tasks) const {
    shoal::yield();
    tasks.run(endless{});
  }
};

TEST_P(scopes, a_time_limit_ends_groups_and_loops_at_anywhere) {
  run([] {
    {
      shoal::stop_scope scope(milliseconds(20));
      shoal::anywhere_group group(scope);
      for (int i = 0; i < 50; ++i) group.run(endless{});
      group.wait();
      EXPECT_TRUE(scope.timed_out());
      group.run([] { ADD_FAILURE() << "begun after the limit"; });
      group.wait();
    }
    shoal::stop_scope second(milliseconds(20));
    second.run([] {
      shoal::parallel_for(
          shoal::anywhere, std::uint64_t{1} << 40, [](std::uint64_t) { shoal::yield(); }, shoal::in_scope);
      EXPECT_TRUE(shoal::stop_requested());
      shoal::anywhere_group whole;  // was not made to stop
      static std::atomic<int> ran;  // of all nodes, which are in this process
      ran = 0;
      for (int i = 0; i < 20; ++i)
        whole.run([] {
          EXPECT_FALSE(shoal::stop_requested());
          ++ran;
        });
      whole.wait();
      EXPECT_EQ(ran, 20);
    });
    EXPECT_TRUE(second.timed_out());
    nothing_is_left();
  });
}

TEST_P(scopes, tasks_at_anywhere_see_the_request) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      shoal::stop_scope scope(std::chrono::microseconds(200 * round));
      scope.run([] {
        shoal::anywhere_group group(shoal::in_scope);
        for (int i = 0; i < 20; ++i)
          group.run([](shoal::anywhere_tasks& tasks) {
            tasks.run([] { patient()(); });
            patient()();
          });
        group.wait();
      });
      EXPECT_TRUE(scope.timed_out());
    }
    nothing_is_left();
  });
}

TEST_P(scopes, groups_at_anywhere_are_waited_for_with_a_limit) {
  run([] {
    static std::atomic<bool> go;  // of all nodes, which are in this process
    static std::atomic<int> ended;
    go = false;
    ended = 0;
    shoal::anywhere_group group;
    EXPECT_TRUE(group.wait_for(std::chrono::hours(1))) << "nothing was begun";
    const auto patient = [](shoal::anywhere_tasks& tasks) {
      while (!go) shoal::yield();
      tasks.run([] { ++ended; });
    };
    for (int i = 0; i < 20; ++i) group.run(patient);
    EXPECT_FALSE(group.wait_for(milliseconds(5)));
    for (int i = 0; i < 20; ++i) group.run(patient);
    EXPECT_FALSE(group.wait_for(milliseconds(0)));
    go = true;
    EXPECT_TRUE(group.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1)));
    EXPECT_EQ(ended, 40);
    group.run([] { throw std::runtime_error("thrown anywhere"); });
    EXPECT_THROW(group.wait_for(std::chrono::hours(1)), shoal::remote_error);
    EXPECT_TRUE(group.wait_for(std::chrono::seconds(0)));
    nothing_is_left(1);
  });
}

// Neither the limit nor the end is always first. What is begun after a wait in vain is waited for, too.
TEST_P(scopes, ends_of_groups_at_anywhere_race_with_limits) {
  run([] {
    static std::atomic<int> ended;
    ended = 0;
    int begun = 0;
    int vain = 0;
    for (int round = 0; round < 200; ++round) {
      shoal::anywhere_group group;
      for (int part = 0; part < 3; ++part) {
        for (int i = 0; i < 4; ++i, ++begun)
          group.run([](shoal::anywhere_tasks& tasks) {
            tasks.run([] {
              shoal::yield();
              ++ended;
            });
          });
        if (group.wait_for(std::chrono::microseconds(round % 20))) {
          EXPECT_EQ(ended, begun);
        } else {
          ++vain;
        }
      }
      if (round % 2 == 0) {
        group.wait();
        EXPECT_EQ(ended, begun);
      }
    }
    EXPECT_EQ(ended, begun);
    EXPECT_GT(vain, 0);
    nothing_is_left();
  });
}

}  // namespace
