// SPDX-License-Identifier: Apache-2.0
// Movable tasks that access other nodes: they stay while operations of their own are outstanding.
#include "shoal/movable.hpp"

#include <atomic>

#include "tests/cluster/cluster.hpp"

namespace {

class movables : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(movables);

TEST_P(movables, stay_while_their_operations_are_outstanding_and_complete_them_at_their_end) {
  run([] {
    shoal::global_array<std::uint64_t> counts(1000);
    shoal::semaphore go(0);
    std::atomic<int> moved{0};
    shoal::task_group group;
    constexpr int k_tasks = 40;
    for (int i = 0; i < k_tasks; ++i)
      group.run(shoal::movable, [&moved, &go, c = counts.ref()] {
        for (int round = 0; round < 3; ++round) {
          for (std::uint64_t at = 0; at < 1000; at += 7) c.async_add(at, 1);
          const unsigned before = shoal::worker_id();
          go.acquire();
          if (shoal::worker_id() != before) ++moved;
          shoal::wait();
          go.acquire();
          c.fetch_add(1, 1);
          c.async_add(2, 1);
        }
      });
    for (int i = 0; i < k_tasks * 6; ++i) {
      shoal::yield();
      go.release();
    }
    group.wait();
    EXPECT_EQ(moved.load(), 0);
    for (std::uint64_t at = 0; at < 1000; ++at)
      EXPECT_EQ(counts->get(at), at % 7 == 0 || at == 1 || at == 2 ? 3U * k_tasks : 0U) << at;
  });
}

TEST_P(movables, loops_over_nodes_complete_the_operations_of_their_iterations) {
  run([] {
    constexpr std::uint64_t k_size = 1000;
    constexpr std::uint64_t k_iterations = 3000;
    shoal::global_array<std::uint64_t> counts(k_size);
    shoal::parallel_for(
        shoal::everywhere, k_iterations,
        [c = counts.ref()](std::uint64_t i) {
          c.async_add(i % k_size, 1);
          if (i % 3 == 0) shoal::wait();
          shoal::task_group children;
          for (int k = 0; k < 2; ++k) children.run(shoal::movable, [c, i] { c.fetch_add((i + 1) % k_size, 1); });
          children.wait();
          c.async_add((i + 2) % k_size, 1);
        },
        shoal::movable);
    for (std::uint64_t at = 0; at < k_size; ++at) EXPECT_EQ(counts->get(at), 4 * k_iterations / k_size) << at;
  });
}

// What handlers begin is not the task's, but its calls are: it stays while they are outstanding.
TEST_P(movables, stay_for_handlers_that_send) {
  if (nodes() == 1) GTEST_SKIP() << "handlers of the own node are executed at once";
  run([this] {
    const std::uint32_t n = nodes();
    shoal::global_array<std::uint64_t> counts(n, shoal::distribution::cyclic);
    shoal::semaphore go(0);
    std::atomic<int> moved{0};
    shoal::task_group group;
    constexpr int k_tasks = 40;
    constexpr int k_calls = 500;
    for (int i = 0; i < k_tasks; ++i)
      group.run(shoal::movable, [&moved, &go, n, c = counts.ref()] {
        const std::uint32_t me = shoal::node_id();
        for (int call = 0; call < k_calls; ++call) shoal::async_at((me + 1) % n, [c, me] { c.async_add(me, 1); });
        const unsigned before = shoal::worker_id();
        go.acquire();
        if (shoal::worker_id() != before) ++moved;
        shoal::wait();
        go.acquire();
      });
    for (int i = 0; i < k_tasks * 2; ++i) {
      shoal::yield();
      go.release();
    }
    group.wait();
    shoal::quiesce();
    EXPECT_EQ(moved.load(), 0);
    EXPECT_EQ(counts->get(shoal::node_id()), std::uint64_t{k_tasks} * k_calls);
  });
}

}  // namespace
