// SPDX-License-Identifier: Apache-2.0
#include "shoal/task_flow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "unit/sched/flow_program.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class task_flows : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(workers, task_flows, testing::Values(1U, 2U, 4U));

TEST_P(task_flows, conflicting_tasks_run_in_program_order) {
  run([] {
    std::uint64_t x = 1;
    task_flow f;
    for (std::uint64_t i = 0; i < 5000; ++i) f.run(inout(x), [&x, i] { x = 3 * x + i; });
    f.wait();
    std::uint64_t expected = 1;
    for (std::uint64_t i = 0; i < 5000; ++i) expected = 3 * expected + i;
    EXPECT_EQ(x, expected);
  });
}

TEST_P(task_flows, readers_run_together_and_a_writer_after_them) {
  run([] {
    int x = 0;
    int seen = 0;
    latch met(4);
    task_flow f;
    f.run(out(x), [&x] { x = 1; });
    for (int i = 0; i < 4; ++i)
      f.run(in(x), [&] {
        met.arrive_and_wait();
        EXPECT_EQ(x, 1);
      });
    f.run(inout(x), [&] {
      seen = x;
      x = 2;
    });
    f.wait();
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(x, 2);
  });
}

TEST_P(task_flows, independent_tasks_run_together) {
  run([] {
    std::array<char, 600> a{};
    latch met(100);
    task_flow f;
    f.run(inout(a), [] {});
    for (std::size_t i = 0; i < 100; ++i)
      f.run(inout(array_region(a.data() + 5 * i, 5)), in(array_region(a.data() + 500 + i % 7, 3)),
            [&met] { met.arrive_and_wait(); });
    f.wait();
    EXPECT_TRUE(met.try_wait());
  });
}

TEST_P(task_flows, a_task_without_accesses_depends_on_nothing) {
  run([] {
    int x = 0;
    latch met(2);
    task_flow f;
    f.run(inout(x), [&met] { met.arrive_and_wait(); });
    f.run([&met] { met.arrive_and_wait(); });
    f.run(inout(array_region(&x, 0)), [] {});
    f.wait();
  });
}

TEST_P(task_flows, random_programs_see_the_versions_of_sequential_order) {
  run([] {
    for (const region_style style :
         {region_style::equal, region_style::mixed, region_style::any, region_style::squares})
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        flow_program program(seed, 300, style);
        task_flow f(seed % 3 == 0 ? 7 : task_flow::k_most_unfinished);
        program.give_to(f, seed % 2 == 0);
        f.wait();
        ASSERT_TRUE(program.ended_well()) << "style " << static_cast<int>(style) << " seed " << seed << ": "
                                          << program.errors() << " wrong, " << program.executed() << " ran";
      }
  });
}

TEST_P(task_flows, a_flow_is_used_again_after_a_wait) {
  run([] {
    std::vector<int> a(100);
    task_flow f;
    for (int round = 0; round < 50; ++round) {
      for (int& x : a) f.run(inout(x), [&x] { ++x; });
      f.run(inout(std::span(a)), [&a] {
        for (int& x : a) ++x;
      });
      f.wait();
      f.wait();  // nothing is left
    }
    for (const int x : a) ASSERT_EQ(x, 100);
  });
}

TEST_P(task_flows, many_readers_and_many_successors) {
  run([] {
    int x = 0;
    std::vector<int> y(500);
    task_flow f;
    for (int round = 1; round <= 4; ++round) {
      f.run(inout(x), [&x] {
        yield();
        ++x;
      });
      for (int& each : y) f.run(in(x), out(each), [&x, &each] { each = x; });
    }
    f.run(in(std::span(y)), inout(x), [&x, &y] {
      for (const int each : y) x += each;
    });
    f.wait();
    EXPECT_EQ(x, 4 + 4 * 500);
  });
}

TEST_P(task_flows, no_more_tasks_are_unfinished_than_the_bound) {
  run([] {
    for (const std::size_t bound : {1U, 2U, 3U, 50U}) {
      std::atomic<std::size_t> unfinished{0};
      std::atomic<std::size_t> most{0};
      task_flow f(bound);
      EXPECT_EQ(f.most_unfinished(), bound);
      std::uint64_t ran = 0;
      for (int i = 0; i < 1000; ++i) {
        f.run(inout(ran), [&] {
          ++ran;
          unfinished.fetch_sub(1);
        });
        const std::size_t now = unfinished.fetch_add(1) + 1;
        if (now < 2000) most = std::max(most.load(), now);  // else the task was faster than this line
      }
      f.wait();
      EXPECT_EQ(ran, 1000U);
      EXPECT_LE(most.load(), bound);
    }
  });
}

TEST_P(task_flows, memory_is_bounded_by_what_is_unfinished) {
  run([] {
    // Regions that are never named again; addresses only.
    const char* const base = reinterpret_cast<const char*>(std::uintptr_t{1} << 40);
    task_flow f(100);
    constexpr std::size_t k_tasks = rounds(200'000, 20'000);
    std::uint64_t ran = 0;
    for (std::size_t i = 0; i < k_tasks; ++i) f.run(in(array_region(base + 3 * i, 3)), inout(ran), [&ran] { ++ran; });
    f.wait();
    EXPECT_EQ(ran, k_tasks);
  });
}

TEST_P(task_flows, the_first_exception_is_thrown_and_dependents_are_dropped) {
  run([] {
    int x = 0;
    int after = 0;
    task_flow f;
    f.run(inout(x), [] {
      yield();
      throw std::runtime_error("bad");
    });
    for (int i = 0; i < 10; ++i) f.run(inout(x), [&after] { ++after; });
    EXPECT_THROW(f.wait(), std::runtime_error);
    EXPECT_EQ(after, 0);
    f.run(inout(x), [&after] { ++after; });
    f.wait();
    EXPECT_EQ(after, 1);
  });
}

TEST_P(task_flows, waiting_from_inside_is_an_error_that_says_so) {
  run([] {
    int x = 0;
    std::array<std::string, 4> why;
    task_flow f;
    const auto refusal = [](const std::function<void()>& call) -> std::string {
      try {
        call();
      } catch (const error& e) {
        return e.what();
      }
      return "nothing was refused";
    };
    semaphore go(0);
    // One that runs while its flow is still given tasks, one that runs during the wait, if need be on the same stack.
    f.run(inout(x), [&] {
      why[0] = refusal([&f] { f.wait(); });
      why[1] = refusal([&f] { f.run([] {}); });
      go.release();
    });
    go.acquire();
    f.run(inout(x), [&] {
      why[2] = refusal([&f] { f.wait(); });
      task_group group;
      group.run([&] { why[3] = refusal([&f] { f.wait(); }); });
      group.wait();
    });
    f.wait();
    for (const std::string& w : why)
      EXPECT_NE(w.find("while tasks of this flow are unfinished"), std::string::npos) << w;
    for (const std::string& w : why) EXPECT_NE(w.find("makes a task_flow of its own"), std::string::npos) << w;
  });
}

TEST_P(task_flows, tasks_may_have_flows_of_their_own) {
  run([] {
    std::vector<int> a(64);
    task_flow f;
    for (int round = 0; round < 3; ++round)
      for (std::size_t part = 0; part < 4; ++part)
        f.run(inout(array_region(a.data() + 16 * part, 16)), [&a, part] {
          task_flow own;
          for (std::size_t i = 0; i < 16; ++i)
            own.run(inout(a[16 * part + i]), [&x = a[16 * part + i]] {
              yield();
              ++x;
            });
          own.wait();
        });
    f.wait();
    for (const int x : a) ASSERT_EQ(x, 3);
  });
}

TEST_P(task_flows, bodies_of_any_size_are_destroyed_once_and_the_destructor_waits) {
  run([] {
    const auto counted = std::make_shared<std::atomic<int>>(0);
    struct alignas(64) wide {
      std::array<char, 300> bytes{};
    };
    {
      task_flow f;
      for (int i = 0; i < 100; ++i) {
        f.run([counted] { counted->fetch_add(1); });
        f.run([counted, w = std::array<char, 80>()] { counted->fetch_add(w[0] + 1); });
        f.run([counted, w = wide()] {
          if (reinterpret_cast<std::uintptr_t>(&w) % 64 == 0) counted->fetch_add(1);
        });
      }
    }
    EXPECT_EQ(counted->load(), 300);
    EXPECT_EQ(counted.use_count(), 1);
    struct throws_when_copied {
      throws_when_copied() = default;
      throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
      void operator()() const {}
    } body;
    task_flow f;
    int x = 0;
    EXPECT_THROW(f.run(inout(x), body), std::runtime_error);
    f.run(inout(x), [&x] { ++x; });
    f.wait();
    EXPECT_EQ(x, 1);
  });
}

TEST_P(task_flows, a_string_that_is_empty_so_far_orders_its_tasks) {
  run([] {
    std::string made;
    std::string got;
    task_flow f;
    f.run(out(made), [&] {
      yield();
      made = "a result that is longer than a string without memory of its own";
    });
    f.run(in(made), out(got), [&] { got = made; });
    f.wait();
    EXPECT_EQ(got, made);
    EXPECT_FALSE(got.empty());
  });
}

TEST(task_flow, a_long_chain_lets_others_run) {
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
    task_flow f;
    for (int i = 0; i < k_tasks; ++i)
      f.run(inout(done), [&] {
        if (done++ == 0) first.release();
      });
    f.wait();
    EXPECT_LT(seen.load(), k_tasks);
    group.wait();
    EXPECT_LT(seen.load(), k_tasks);
  });
}

TEST(task_flow_death, a_thread_of_the_program_is_told_that_it_cannot_wait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave_unfinished = [](task_flow& f) { run_pool(1, [&f] { f.run([] {}); }); };
  EXPECT_DEATH(
      {
        task_flow f;
        leave_unfinished(f);
        f.wait();
      },
      "this is for tasks");
}

TEST(task_flow, refuses_a_bound_of_zero) { EXPECT_THROW(task_flow(0), error); }

TEST(task_flow, may_live_longer_than_a_pool) {
  task_flow f;
  int x = 0;
  for (const unsigned workers : {1U, 3U})
    run_pool(workers, [&] {
      for (int i = 0; i < 100; ++i) f.run(inout(x), [&x] { ++x; });
      f.wait();
    });
  EXPECT_EQ(x, 200);
}

}  // namespace
}  // namespace shoal::sched
