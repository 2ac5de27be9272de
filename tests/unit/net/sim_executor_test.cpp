// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/sim_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "machine/thread_id.hpp"

namespace shoal::net {
namespace {

constexpr std::uint64_t k_us = 1'000'000;  // in picoseconds

void sleep_for(sim_executor& by, std::int64_t ns) {
  std::atomic<std::uint32_t> never{0};
  EXPECT_EQ(by.wait(never, 0, ns, false), machine::futex_result::timeout);
}

TEST(sim_executor, clocks_belong_to_threads_and_the_earliest_runs) {
  sim_clock_options o;
  o.lookahead_ps = 0;
  sim_executor by(o);
  std::vector<std::string> order;
  const auto worker = [&](const char* name, std::uint64_t step_us) {
    return [&, name, step_us] {
      for (int i = 0; i < 3; ++i) {
        by.spend_ps(step_us * k_us);
        by.give_way();
        order.emplace_back(name);
      }
    };
  };
  {
    auto slow = by.start_thread("slow", worker("slow", 500));
    auto fast = by.start_thread("fast", worker("fast", 200));
    slow->join();
    fast->join();
  }
  EXPECT_EQ(order, (std::vector<std::string>{"fast", "fast", "slow", "fast", "slow", "slow"}));
  EXPECT_GE(by.now_ns(), 1'500'000U);
}

TEST(sim_executor, a_thread_runs_ahead_by_the_lookahead_and_no_more) {
  sim_clock_options o;
  o.lookahead_ps = 1000 * k_us;
  sim_executor by(o);
  std::vector<int> order;
  const auto worker = [&](int name) {
    return [&, name] {
      for (int i = 0; i < 4; ++i) {
        by.spend_ps(600 * k_us);
        by.give_way();
        order.push_back(name);
      }
    };
  };
  auto a = by.start_thread("a", worker(1));
  auto b = by.start_thread("b", worker(2));
  a->join();
  b->join();
  std::size_t switches = 0;
  for (std::size_t i = 1; i < order.size(); ++i) switches += order[i] != order[i - 1] ? 1 : 0;
  EXPECT_EQ(order.size(), 8U);
  EXPECT_GE(switches, 2U);
  EXPECT_LE(switches, 5U);
}

TEST(sim_executor, timeouts_take_virtual_time_only) {
  const std::uint64_t began_ns = base::machine_now_ns();
  sim_executor by({});
  sleep_for(by, 3'600'000'000'000);
  EXPECT_GE(by.now_ns(), 3'600'000'000'000U);
  EXPECT_GE(base::now_ns(), 3'600'000'000'000U);
  EXPECT_LT(base::machine_now_ns() - began_ns, 60'000'000'000U);
}

TEST(sim_executor, the_clock_of_programs_is_the_machines_again_afterwards) {
  {
    sim_executor by({});
    EXPECT_LT(base::now_ns(), 1'000'000U);
  }
  EXPECT_GE(base::now_ns(), base::machine_now_ns() - 1'000'000'000);
}

TEST(sim_executor, a_wake_comes_after_its_wakers_time) {
  sim_executor by({});
  std::atomic<std::uint32_t> word{0};
  std::uint64_t woken_ns = 0;
  auto sleeper = by.start_thread("sleeper", [&] {
    while (word.load() == 0) EXPECT_EQ(by.wait(word, 0, -1, false), machine::futex_result::woken);
    woken_ns = by.now_ns();
  });
  sleep_for(by, 50'000);
  EXPECT_EQ(by.wait(word, 1, -1, false), machine::futex_result::changed);
  word.store(1);
  EXPECT_EQ(by.wake(word, 1, false), 1);
  EXPECT_EQ(by.wake(word, 1, false), 0);
  sleeper->join();
  EXPECT_GE(woken_ns, 51'000U);
  EXPECT_LT(woken_ns, 60'000U);
}

TEST(sim_executor, wakes_as_many_as_it_is_told_in_their_order) {
  sim_executor by({});
  std::atomic<std::uint32_t> word{0};
  std::vector<int> order;
  std::vector<std::unique_ptr<machine::executor::thread>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(by.start_thread("sleeper", [&, i] {
      sleep_for(by, 1000 * i);
      EXPECT_EQ(by.wait(word, 0, -1, false), machine::futex_result::woken);
      order.push_back(i);
    }));
  sleep_for(by, 1'000'000);
  EXPECT_EQ(by.wake(word, 3, false), 3);
  sleep_for(by, 1'000'000);
  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(by.wake(word, 3, false), 1);
  for (auto& t : all) t->join();
  EXPECT_EQ(order.back(), 3);
}

TEST(sim_executor, bells_ring_at_their_time) {
  sim_executor by({});
  lockfree::doorbell<> bell;
  std::uint64_t rung_ns = 0;
  auto sleeper = by.start_thread("sleeper", [&] {
    bell.prepare();
    while (bell.may_sleep()) by.wait(bell.word(), lockfree::doorbell<>::k_announced, -1, false);
    rung_ns = by.now_ns();
  });
  by.ring_at(by.now_ps() + 700 * k_us, bell);
  sleeper->join();
  EXPECT_GE(rung_ns, 700'000U);
  EXPECT_LT(rung_ns, 710'000U);
}

TEST(sim_executor, threads_have_their_own_values_errors_exceptions_and_stacks) {
  sim_executor by({});
  base::set_log_context({.level = base::log_level::warn, .node = 17});
  errno = 5;
  std::vector<std::unique_ptr<machine::executor::thread>> all;
  int good = 0;
  for (int i = 0; i < 3; ++i)
    all.push_back(by.start_thread("one", [&, i] {
      int own = 0;
      const auto stack = machine::own_stack();
      const auto* const here = reinterpret_cast<const std::byte*>(&own);
      if (stack.data() <= here && here < stack.data() + stack.size()) ++good;
      if (base::current_log_context().node == -1 && errno == 0) ++good;
      base::set_log_context({.level = base::log_level::say, .node = i});
      errno = 100 + i;
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::runtime_error& e) {
        for (int turn = 0; turn < 10; ++turn) sleep_for(by, 10'000);
        if (e.what() == std::to_string(i)) ++good;
        try {
          throw;
        } catch (const std::runtime_error& again) {
          if (again.what() == std::to_string(i)) ++good;
        }
      }
      if (base::current_log_context().node == i && errno == 100 + i) ++good;
    }));
  for (auto& t : all) t->join();
  EXPECT_EQ(good, 15);
  EXPECT_EQ(base::current_log_context().node, 17);
  base::set_log_context({});
}

TEST(sim_executor, thousands_of_threads_fit) {
  sim_executor by({});
  std::uint64_t sum = 0;
  std::vector<std::unique_ptr<machine::executor::thread>> all;
  for (int i = 0; i < 3000; ++i)
    all.push_back(by.start_thread("one", [&, i] {
      sleep_for(by, 1000);
      sum += static_cast<std::uint64_t>(i);
    }));
  for (auto& t : all) t->join();
  EXPECT_EQ(sum, 3000U * 2999 / 2);
}

// Threads with random computing and sleep; gives the digest.
std::uint64_t run_with(std::uint64_t seed) {
  sim_clock_options o;
  o.seed = seed;
  o.jitter = 1;
  sim_executor by(o);
  std::atomic<std::uint32_t> word{0};
  std::vector<std::unique_ptr<machine::executor::thread>> all;
  for (unsigned i = 0; i < 10; ++i)
    all.push_back(by.start_thread("one", [&] {
      for (int turn = 0; turn < 50; ++turn) {
        by.spend_ps(by.random() % (3 * k_us));
        by.wait(word, 0, 1000, false);
        by.wake(word, 1, false);
        by.yield();
      }
    }));
  for (auto& t : all) t->join();
  return by.digest();
}

TEST(sim_executor, the_same_seed_gives_the_same_run) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::uint64_t digest = run_with(seed);
    EXPECT_EQ(run_with(seed), digest) << "seed " << seed;
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 10U);
}

struct counted_ticks final : machine::activity {
  int ticks = 0;
  std::int64_t tick() noexcept override {
    ++ticks;
    return 1'000'000;
  }
};

TEST(sim_executor, activities_tick_while_others_sleep) {
  sim_executor by({});
  counted_ticks counted;
  auto runner = by.make_runner("ticks", counted);
  runner->start();
  sleep_for(by, 10'000'000'000);
  runner->stop();
  EXPECT_NEAR(counted.ticks, 10'000, 100);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
class sim_executor_death_test : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(sim_executor_death_test, a_deadlock_says_who_waits) {
  EXPECT_EXIT(
      {
        sim_executor by({});
        std::atomic<std::uint32_t> never{0};
        auto stuck = by.start_thread("stuck", [&] { by.wait(never, 0, -1, false); });
        stuck->join();
      },
      [](int status) { return status != 0; }, "seed 1: nothing can run any more; of 2 threads wait: first stuck");
}

TEST_F(sim_executor_death_test, activities_do_not_keep_a_deadlock_from_being_found) {
  EXPECT_EXIT(
      {
        sim_executor by({});
        counted_ticks counted;
        auto runner = by.make_runner("ticks", counted);
        runner->start();
        std::atomic<std::uint32_t> never{0};
        by.when_deadlocked([] { base::write_line("", "the report"); });
        by.wait(never, 0, -1, false);
      },
      [](int status) { return status != 0; }, "but background activities; of 2 threads wait: first(.|\n)*the report");
}
#endif

// Once in 100 us for 10 us.
struct delays_of_test {
  sim_executor& by;
  int calls = 0;
  static std::uint64_t delay(void* of) noexcept {
    auto& self = *static_cast<delays_of_test*>(of);
    ++self.calls;
    self.by.spend_ns(10'000);
    return 90'000;
  }
};

TEST(sim_executor, interruptions_take_time_from_a_thread_that_runs) {
  sim_executor by({});
  delays_of_test d{by};
  const std::uint64_t before_ps = by.now_ps();
  {
    const auto timer = by.interrupt(&delays_of_test::delay, &d, 50'000);
    for (int i = 0; i < 1000; ++i) by.spend_ps(900'000);  // 900 us, and an interruption in each 90
    by.now_ps();
  }
  EXPECT_NEAR(d.calls, 10, 1);
  EXPECT_EQ(by.now_ps() - before_ps, 900'000'000U + static_cast<std::uint64_t>(d.calls) * 10'000'000);
  const int calls = d.calls;
  by.spend_ps(1'000'000'000);
  by.now_ps();
  EXPECT_EQ(d.calls, calls);
}

TEST(sim_executor, interruptions_take_nothing_from_a_thread_that_sleeps) {
  sim_executor by({});
  delays_of_test d{by};
  const auto timer = by.interrupt(&delays_of_test::delay, &d, 50'000);
  const std::uint64_t before_ps = by.now_ps();
  sleep_for(by, 1'000'000);
  EXPECT_LT(by.now_ps() - before_ps, 1'000'000'000U + 15'000'000);
  EXPECT_NEAR(d.calls, 10, 1);
}

}  // namespace
}  // namespace shoal::net
