// SPDX-License-Identifier: Apache-2.0
// Values of workers: when they are made, who gets which, what combine gives.
#include "shoal/per_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/movable.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

TEST(per_worker, sums_of_all_workers_are_the_sum_of_the_loop) {
  for (const unsigned workers : {1U, 2U, 7U})
    run_pool(workers, [workers] {
      per_worker<std::uint64_t> sum;
      EXPECT_TRUE(sum.empty());
      EXPECT_EQ(sum.combine(std::plus<>()), 0U);
      parallel_for(0, 10'000, [&](std::uint64_t i) { sum.with([i](std::uint64_t& mine) { mine += i; }); });
      EXPECT_EQ(sum.combine(std::plus<>()), 49'995'000U);
      EXPECT_GE(sum.size(), 1U);
      EXPECT_LE(sum.size(), workers);
      std::uint64_t each = 0;
      std::as_const(sum).combine_each([&](const std::uint64_t& one) { each += one; });
      for (const std::uint64_t one : sum) each += one;
      EXPECT_EQ(each, 2 * 49'995'000U);
      sum.clear();
      EXPECT_TRUE(sum.empty());
    });
}

TEST(per_worker, gives_each_worker_its_own_value) {
  run_pool(3, [] {
    per_worker<unsigned> number;
    parallel_for(
        0, 3, [&](int) { number.local() = detail::t_worker->index + 1; }, static_partitioner{});
    EXPECT_EQ(std::vector<unsigned>(number.begin(), number.end()), (std::vector<unsigned>{1, 2, 3}));
    std::set<std::uintptr_t> lines;
    for (unsigned& n : number) lines.insert(reinterpret_cast<std::uintptr_t>(&n) / 64);
    EXPECT_EQ(lines.size(), 3U);
  });
}

TEST(per_worker, makes_a_value_when_it_is_asked_for) {
  run_pool(4, [] {
    std::atomic<int> made{0};
    per_worker<std::vector<int>> lists([&made] { return std::vector<int>(++made, 7); });
    EXPECT_EQ(made, 0);
    lists.local().push_back(1);
    EXPECT_EQ(lists.local(), (std::vector<int>{7, 1}));
    EXPECT_EQ(made, 1);
    lists.make_all();
    EXPECT_EQ(made, 4);
    EXPECT_EQ(lists.size(), 4U);
    per_worker<std::string> copies(std::string("initial"));
    EXPECT_EQ(copies.local(), "initial");
    EXPECT_EQ(std::as_const(copies).begin()->size(), 7U);
  });
}

// Neither copied nor moved.
struct pinned {
  explicit pinned(int n) : number(n) {}
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  int number;
};

TEST(per_worker, holds_what_cannot_be_moved_and_what_is_aligned) {
  run_pool(2, [] {
    per_worker<pinned> fixed([] { return pinned(5); });
    EXPECT_EQ(fixed.local().number, 5);
    per_worker<std::unique_ptr<int>> owned;
    owned.local() = std::make_unique<int>(3);
    int sum = 0;
    owned.combine_each([&](std::unique_ptr<int>& p) { sum += *p; });
    EXPECT_EQ(sum, 3);
    struct alignas(256) wide {
      char bytes[300];
    };
    per_worker<wide> w;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w.local()) % 256, 0U);
  });
}

TEST(per_worker, has_no_value_after_its_maker_has_thrown) {
  run_pool(2, [] {
    bool throws = true;
    per_worker<int> value([&throws] { return throws ? throw std::runtime_error("not yet") : 4; });
    EXPECT_THROW(value.local(), std::runtime_error);
    EXPECT_TRUE(value.empty());
    throws = false;
    EXPECT_EQ(value.local(), 4);
  });
}

TEST(per_worker, serves_movable_tasks_on_the_worker_that_they_are_on) {
  run_pool(4, [] {
    per_worker<std::uint64_t> count;
    task_group group;
    for (int i = 0; i < rounds(400, 100); ++i)
      group.run(movable, [&count] {
        task_group inner;
        count.with([](std::uint64_t& mine) { ++mine; });
        inner.run([&count] { count.with([](std::uint64_t& mine) { ++mine; }); });
        inner.wait();  // it may go on elsewhere
        count.with([](std::uint64_t& mine) { ++mine; });
      });
    group.wait();
    EXPECT_EQ(count.combine(std::plus<>()), 3U * static_cast<unsigned>(rounds(400, 100)));
  });
}

TEST(per_worker_death, belongs_to_one_pool) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::unique_ptr<per_worker<int>> kept;
        run_pool(1, [&] { kept = std::make_unique<per_worker<int>>(); });
        pool_options options;
        options.workers = 1;
        pool first(options);
        pool second(options);
        first.run([&] { kept = std::make_unique<per_worker<int>>(); });
        second.run([&] { kept->local() = 1; });
      },
      "a per_worker is used by a task of another pool");
  EXPECT_DEATH(per_worker<int>(), "this is for tasks");
}

}  // namespace
}  // namespace shoal::sched
