// SPDX-License-Identifier: Apache-2.0
#include "shoal/coroutine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/sleep.hpp"
#include "shoal/stop_scope.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;

class coroutines : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, coroutines, testing::Values(1U, 2U, 4U));

shoal::coroutine<int> sum_to(int n) {
  int total = co_await shoal::async([n] {
    if (n % 3 == 0) shoal::yield();
    return n;
  });
  if (n > 1) total += co_await sum_to(n - 1);
  co_return total;
}

shoal::coroutine<> throws_after(int waits) {
  for (int i = 0; i < waits; ++i) co_await shoal::async([] { shoal::yield(); });
  throw std::runtime_error("from a coroutine");
}

shoal::coroutine<std::string> catches() {
  try {
    co_await throws_after(2);
  } catch (const std::runtime_error& e) {
    co_return e.what();
  }
  co_return "nothing";
}

shoal::coroutine<std::uint64_t> counts(std::uint64_t n) { co_return n; }

shoal::coroutine<std::uint64_t> adds_many(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += co_await counts(i);  // none waits: the stack must not grow
  co_return sum;
}

TEST_P(coroutines, await_futures_and_each_other) {
  run_pool(GetParam(), [] {
    EXPECT_EQ(shoal::async(sum_to(1)).get(), 1);
    EXPECT_EQ(shoal::async("sum", sum_to(200)).get(), 200 * 201 / 2);
    EXPECT_EQ(shoal::async(adds_many(shoal::rounds(100'000, 2'000))).get(),
              std::uint64_t{shoal::rounds(100'000, 2'000)} * (shoal::rounds(100'000, 2'000) - 1) / 2);
    std::vector<shoal::future<int>> many;
    for (int i = 1; i <= 100; ++i) many.push_back(shoal::async(sum_to(i % 10 + 1)));
    int sum = 0;
    for (auto& f : many) sum += f.get();
    EXPECT_EQ(sum, 10 * (1 + 3 + 6 + 10 + 15 + 21 + 28 + 36 + 45 + 55));
  });
}

TEST_P(coroutines, exceptions_go_to_whoever_awaits) {
  run_pool(GetParam(), [] {
    EXPECT_THROW(shoal::async(throws_after(0)).get(), std::runtime_error);
    EXPECT_THROW(shoal::async(throws_after(3)).get(), std::runtime_error);
    EXPECT_EQ(shoal::async(catches()).get(), "from a coroutine");
  });
}

TEST_P(coroutines, a_function_object_lives_as_long_as_its_coroutine) {
  run_pool(GetParam(), [] {
    auto word = std::make_shared<std::string>("kept");
    const std::weak_ptr<std::string> watch = word;
    shoal::latch go(1);
    auto f = shoal::async([word = std::move(word), &go]() -> shoal::coroutine<std::size_t> {
      co_await shoal::async([&go] { go.wait(); });
      co_return word->size();
    });
    go.count_down();
    EXPECT_EQ(f.get(), 4U);
    EXPECT_TRUE(watch.expired());
  });
}

TEST_P(coroutines, wait_without_a_stack_and_with_one) {
  run_pool(GetParam(), [] {
    shoal::promise<int> answer;
    shoal::mutex guard;
    std::atomic<int> ended{0};
    auto later = answer.get_future();
    std::vector<shoal::future<void>> all;
    for (int i = 0; i < 50; ++i)
      all.push_back(shoal::async([&]() -> shoal::coroutine<> {
        {
          const std::lock_guard hold(guard);
          shoal::yield();
        }
        shoal::sleep_for(std::chrono::microseconds(100));
        co_await shoal::async([] { shoal::yield(); });
        ++ended;
      }));
    auto first =
        shoal::async([f = std::move(later)]() mutable -> shoal::coroutine<int> { co_return co_await std::move(f); });
    answer.set_value(9);
    EXPECT_EQ(first.get(), 9);
    for (auto& f : all) f.get();
    EXPECT_EQ(ended, 50);
  });
}

TEST_P(coroutines, that_never_began_are_destroyed) {
  run_pool(GetParam(), [] {
    auto owned = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owned;
    {
      auto never = [](std::shared_ptr<int> p) -> shoal::coroutine<int> { co_return *p; }(std::move(owned));
    }
    EXPECT_TRUE(watch.expired());
  });
}

TEST_P(coroutines, belong_to_the_scope_of_their_caller) {
  run_pool(GetParam(), [] {
    shoal::stop_scope scope;
    auto seen = scope.run([&] {
      return shoal::async([&]() -> shoal::coroutine<int> {
        int before = shoal::stop_requested() ? 1 : 0;
        co_await shoal::async([&] {
          shoal::yield();
          scope.request_stop();
        });
        co_return 10 * before + (shoal::stop_requested() ? 1 : 0);
      });
    });
    EXPECT_EQ(seen.get(), 1);
    EXPECT_FALSE(shoal::stop_requested());
  });
}

TEST(coroutines_misuse, is_told) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_pool(1,
                        [] {
                          auto c = counts(1);
                          shoal::async(std::move(c)).get();
                          shoal::async(std::move(c)).get();
                        }),
               "awaited or given to async");
}

}  // namespace
