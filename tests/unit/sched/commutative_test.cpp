// SPDX-License-Identifier: Apache-2.0
// Commutative accesses of tasks of a flow (shoal/region.hpp).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "shoal/sync.hpp"
#include "shoal/task_flow.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class commutative_tasks : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, commutative_tasks, testing::Values(1U, 2U, 4U));

TEST_P(commutative_tasks, run_one_at_a_time) {
  run([] {
    int sum = 0;  // not atomic
    bool inside = false;
    int overlaps = 0;
    task_flow f;
    for (int i = 1; i <= 500; ++i)
      f.run(commutative(sum), [&, i] {
        if (inside) ++overlaps;
        inside = true;
        if (i % 3 == 0) yield();
        sum += i;
        inside = false;
      });
    f.wait();
    EXPECT_EQ(sum, 500 * 501 / 2);
    EXPECT_EQ(overlaps, 0);
  });
}

TEST_P(commutative_tasks, are_writers_to_all_others) {
  run([] {
    int x = 0;
    std::array<int, 5> seen{};
    task_flow f;
    for (int round = 0; round < 5; ++round) {
      f.run(out(x), [&x] {
        yield();
        x = 0;
      });
      for (int i = 0; i < 20; ++i)
        f.run(commutative(x), [&x] {
          yield();
          ++x;
        });
      for (int i = 0; i < 3; ++i) f.run(in(x), [&x, i] { EXPECT_EQ(x, 20) << i; });
      for (int i = 0; i < 20; ++i) f.run(commutative(x), [&x] { ++x; });
      f.run(inout(x), [&x, &now = seen[static_cast<std::size_t>(round)]] { now = x; });
    }
    f.wait();
    for (const int s : seen) EXPECT_EQ(s, 40);
  });
}

TEST_P(commutative_tasks, run_in_any_order) {
  run([] {
    int x = 0;
    int ready = 0;
    std::vector<int> order;
    semaphore go(0);
    task_flow f;
    // The first one given waits for something that is made ready only after the second one has run.
    f.run(out(ready), [&go] { go.acquire(); });
    f.run(in(ready), commutative(x), [&order] { order.push_back(1); });
    f.run(commutative(x), [&] {
      order.push_back(2);
      go.release();
    });
    f.wait();
    EXPECT_EQ(order, (std::vector<int>{2, 1}));
  });
}

TEST_P(commutative_tasks, of_other_memory_run_together) {
  run([] {
    int x = 0;
    int y = 0;
    latch met(2);
    task_flow f;
    f.run(commutative(x), [&met] { met.arrive_and_wait(); });
    f.run(commutative(y), [&met] { met.arrive_and_wait(); });
    f.wait();
    EXPECT_TRUE(met.try_wait());
  });
}

TEST_P(commutative_tasks, may_name_several_regions_in_any_order) {
  run([] {
    std::array<int, 3> x{};
    task_flow f;
    for (int i = 0; i < 300; ++i) {
      const auto a = static_cast<std::size_t>(i) % 3;
      const std::size_t b = (a + 1 + static_cast<std::size_t>(i) / 3 % 2) % 3;
      f.run(commutative(x[a]), commutative(x[b]), commutative(x[a]), [&x, a, b] {
        const int before = x[a] + x[b];
        yield();
        EXPECT_EQ(x[a] + x[b], before);
        ++x[a];
        ++x[b];
      });
    }
    f.wait();
    EXPECT_EQ(x[0] + x[1] + x[2], 600);
  });
}

TEST_P(commutative_tasks, regions_may_overlap_in_part) {
  run([] {
    std::array<int, 64> x{};
    task_flow f;
    for (std::size_t i = 0; i < 400; ++i) {
      const std::size_t begin = i * 7 % 50;
      f.run(commutative(array_region(&x[begin], 1 + i % 14)), [&x, begin, n = 1 + i % 14] {
        for (std::size_t j = begin; j < begin + n; ++j) ++x[j];
      });
    }
    int sum = 0;
    f.run(in(x), [&] {
      for (const int each : x) sum += each;
    });
    f.wait();
    int expected = 0;
    for (int i = 0; i < 400; ++i) expected += 1 + i % 14;
    EXPECT_EQ(sum, expected);
  });
}

// Thousands that want what a task holds while it waits: with a stack each, the pool would have none left.
TEST_P(commutative_tasks, take_no_stack_while_they_wait) {
  run([] {
    constexpr int k_tasks = 30'000;  // the pool has 16384 stacks
    int x = 0;
    semaphore go(0);
    task_flow f;
    f.run(commutative(x), [&go] { go.acquire(); });
    for (int i = 0; i < k_tasks; ++i) f.run(commutative(x), [&x] { ++x; });
    go.release();
    f.wait();
    EXPECT_EQ(x, k_tasks);
  });
}

TEST_P(commutative_tasks, are_dropped_after_an_exception_and_leave_nothing_held) {
  run([] {
    int x = 0;
    int after = 0;
    task_flow f;
    f.run(commutative(x), [] {
      yield();
      throw std::runtime_error("bad");
    });
    f.run(inout(x), [&after] { ++after; });
    for (int i = 0; i < 10; ++i) f.run(commutative(x), [&after] { ++after; });
    EXPECT_THROW(f.wait(), std::runtime_error);
    EXPECT_EQ(after, 0);
    for (int i = 0; i < 10; ++i) f.run(commutative(x), [&after] { ++after; });
    f.wait();
    EXPECT_EQ(after, 10);
  });
}

TEST_P(commutative_tasks, may_have_a_priority_and_a_large_body) {
  run([] {
    int x = 0;
    task_flow f(16);
    const std::array<access, 1> declared{commutative(x)};
    for (int i = 0; i < 100; ++i) {
      f.run(static_cast<priority>(i % 4), commutative(x), [&x, big = std::array<int, 30>()] { x += 1 + big[0]; });
      f.run(static_cast<priority>(i % 4), std::span<const access>(declared), [&x] { ++x; });
      f.run(inout(x), [&x] { ++x; });
    }
    f.wait();
    EXPECT_EQ(x, 300);
  });
}

}  // namespace
}  // namespace shoal::sched
