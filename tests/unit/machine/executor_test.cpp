// SPDX-License-Identifier: Apache-2.0
#include "machine/executor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "base/clock.hpp"
#include "machine/thread_id.hpp"
#include "unit/machine/virtual_executor.hpp"

namespace shoal::machine {
namespace {

constexpr std::uint64_t k_s = 1'000'000'000;
constexpr std::uint64_t k_hour = 3'600 * k_s;

// The same on real threads and on virtual time.
class executors : public testing::TestWithParam<bool> {
protected:
  void run(const std::function<void(executor&)>& body) {
    if (!GetParam()) return body(threads());
    virtual_executor by(7, k_hour);
    by.run([&] { body(by); });
  }
};
INSTANTIATE_TEST_SUITE_P(virtual_time, executors, testing::Bool());

void sleep_for(executor& by, std::int64_t ns) {
  std::atomic<std::uint32_t> never{0};
  EXPECT_EQ(by.wait(never, 0, ns, false), futex_result::timeout);
}

TEST_P(executors, a_wait_ends_by_change_by_wake_and_by_time) {
  run([](executor& by) {
    std::atomic<std::uint32_t> word{0};
    EXPECT_EQ(by.wait(word, 1, k_no_timeout, false), futex_result::changed);
    const std::uint64_t begin = by.now_ns();
    EXPECT_EQ(by.wait(word, 0, 2'000'000, false), futex_result::timeout);
    EXPECT_GE(by.now_ns() - begin, 2'000'000U);
    const auto waker = by.start_thread("waker", [&] {
      word.store(1);
      by.wake(word, 1, false);
    });
    while (word.load() == 0) by.wait(word, 0, k_no_timeout, false);
    waker->join();
    EXPECT_EQ(by.wake(word, 1, false), 0);
  });
}

struct counting final : activity {
  explicit counting(executor& e) : by(e) {}
  std::int64_t tick() noexcept override {
    ticks.fetch_add(1);
    by.wake(ticks, 1, false);
    return rest_ns;
  }
  std::span<const int> descriptors() noexcept override { return watched; }
  void await(std::uint32_t wanted) {
    for (std::uint32_t now = 0; (now = ticks.load()) < wanted;) by.wait(ticks, now, 20 * std::int64_t{k_s}, false);
  }
  executor& by;
  std::atomic<std::uint32_t> ticks{0};
  std::int64_t rest_ns = k_no_timeout;
  std::vector<int> watched;
};

TEST_P(executors, an_activity_sleeps_until_it_is_notified_and_ticks_no_more_after_stop) {
  run([](executor& by) {
    counting one(by);
    const auto runner = by.make_runner("counting", one);
    runner->start();
    one.await(1);
    sleep_for(by, 5'000'000);
    EXPECT_EQ(one.ticks.load(), 1U);
    runner->notify();
    one.await(2);
    runner->stop();
    runner->notify();
    sleep_for(by, 5'000'000);
    EXPECT_EQ(one.ticks.load(), 2U);
    runner->stop();
  });
}

TEST_P(executors, an_activity_that_was_never_started_can_be_notified_and_stopped) {
  run([](executor& by) {
    counting one(by);
    const auto runner = by.make_runner("counting", one);
    runner->notify();
    runner->stop();
    EXPECT_EQ(one.ticks.load(), 0U);
  });
}

TEST_P(executors, an_activity_wakes_for_a_descriptor_and_for_a_notification) {
  run([](executor& by) {
    wake_descriptor news;
    struct clearing final : activity {
      std::int64_t tick() noexcept override {
        watched->clear();
        return counted.tick();
      }
      std::span<const int> descriptors() noexcept override { return counted.descriptors(); }
      explicit clearing(executor& e) : counted(e) {}
      counting counted;
      wake_descriptor* watched = nullptr;
    } one(by);
    one.watched = &news;
    one.counted.watched = {-1, news.descriptor()};
    const auto runner = by.make_runner("watching", one);
    runner->start();
    one.counted.await(1);
    news.wake();
    one.counted.await(2);
    runner->notify();
    one.counted.await(3);
    runner->stop();
  });
}

TEST(executor, knows_a_processor) { EXPECT_GE(threads().processors(), 1U); }

TEST(thread_executor, gives_names_that_the_kernel_shows) {
  std::string seen;
  threads().start_thread("shoal-a-name-that-is-too-long", [&] { seen = thread_name(thread_id()); })->join();
  EXPECT_EQ(seen, "shoal-a-name-th");
}

// An hour in ticks of a second would not end here if it took real time.
TEST(virtual_executor, jumps_to_the_next_deadline) {
  virtual_executor by;
  std::uint32_t ticks = 0;
  by.run([&] {
    counting each_second(by);
    each_second.rest_ns = k_s;
    const auto runner = by.make_runner("second", each_second);
    runner->start();
    sleep_for(by, k_hour + k_s / 2);
    runner->stop();
    ticks = each_second.ticks.load();
  });
  EXPECT_EQ(ticks, 3601U);
  EXPECT_GE(by.now_ns(), k_hour);
  EXPECT_LT(by.now_ns(), k_hour + k_s);
}

// Which of three threads is next depends on the seed, and on nothing else.
TEST(virtual_executor, repeats_a_schedule_by_its_seed) {
  const auto order = [](std::uint64_t seed) {
    virtual_executor by(seed);
    std::string said;
    by.run([&] {
      std::vector<std::unique_ptr<executor::thread>> all;
      for (const char name : {'a', 'b', 'c'})
        all.push_back(by.start_thread(std::string(1, name), [&by, &said, name] {
          for (int i = 0; i < 8; ++i) said += name, by.yield();
        }));
    });
    return said;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_EQ(order(3).size(), 24U);
  EXPECT_NE(order(3), order(4));
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(virtual_executor_death_test, says_who_waits_for_ever) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        virtual_executor by;
        by.run([&by] {
          std::atomic<std::uint32_t> never{0};
          const auto other = by.start_thread("other", [&] { by.wait(never, 0, k_no_timeout, false); });
          other->join();
        });
      },
      "deadlock: all sleep without a limit; first sleeps without a limit other sleeps without a limit");
}

TEST(virtual_executor_death_test, says_when_only_time_outs_happen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        virtual_executor by(1, k_hour);
        by.run([&by] {
          for (;;) sleep_for(by, k_s);
        });
      },
      "the limit is over; first");
}
#endif

}  // namespace
}  // namespace shoal::machine
