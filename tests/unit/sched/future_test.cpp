// SPDX-License-Identifier: Apache-2.0
#include "shoal/future.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

class futures : public testing::TestWithParam<unsigned> {
protected:
  template <class F>
  void run(F&& f) const {
    sched::run_pool(GetParam(), std::forward<F>(f));
  }
};

INSTANTIATE_TEST_SUITE_P(workers, futures, testing::Values(1U, 2U, 4U),
                         [](const auto& given) { return std::to_string(given.param) + "_workers"; });

template <class F>
std::string sentence_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST_P(futures, give_values_of_any_kind_once) {
  run([] {
    EXPECT_EQ(async([] { return 7; }).get(), 7);
    EXPECT_EQ(async("named", [] { return std::string(100, 'x'); }).get(), std::string(100, 'x'));
    EXPECT_EQ(*async([] { return std::make_unique<int>(8); }).get(), 8);
    int ran = 0;
    async([&ran] { ++ran; }).get();
    EXPECT_EQ(ran, 1);
    const std::array<char, 300> large{'l'};
    EXPECT_EQ(async([large] { return large; }).get().front(), 'l');
    struct alignas(64) wide {
      int value;
    };
    EXPECT_EQ(async([w = wide{9}] { return w; }).get().value, 9);
    auto f = async([] { return 1; });
    EXPECT_TRUE(f.valid());
    f.wait();
    EXPECT_TRUE(f.ready());
    EXPECT_EQ(f.get(), 1);
    EXPECT_FALSE(f.valid());
  });
}

TEST_P(futures, throw_what_the_task_threw) {
  run([] {
    auto f = async([]() -> int { throw std::runtime_error("the task gives up"); });
    EXPECT_NO_THROW(f.wait());
    EXPECT_EQ(sentence_of([&f] { f.get(); }), "the task gives up");
    EXPECT_FALSE(f.valid());
  });
}

TEST_P(futures, wait_at_their_end_and_when_another_is_put_in_their_place) {
  run([] {
    std::atomic<int> ended{0};
    const auto slow = [&ended] {
      for (int i = 0; i < 10; ++i) yield();
      ++ended;
      return 0;
    };
    {
      auto f = async(slow);
      f = async(slow);
      EXPECT_GE(ended.load(), 1);
      auto g = async(slow).then([&ended](int) { ++ended; });
    }
    EXPECT_EQ(ended.load(), 4);
  });
}

TEST_P(futures, dropped_with_an_exception_say_so) {
  testing::internal::CaptureStderr();
  run([] {
    {
      auto f = async([] { throw std::runtime_error("unheard of"); });
    }
    {
      auto f = async([] { throw std::runtime_error("unheard too"); }).then([] {});
    }
    {
      auto f = async("shouter", [] { throw 3; });
    }
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("unheard of"), std::string::npos) << said;
  EXPECT_NE(said.find("unheard too"), std::string::npos) << said;
  EXPECT_NE(said.find("an exception that the task 'shouter' threw was dropped"), std::string::npos) << said;
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(futures_death_test, a_promise_is_not_set_to_no_exception) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(sched::run_pool(1, [] { promise<int>().set_exception(nullptr); }), "and this is none");
}
#endif

TEST_P(futures, continuations_take_the_value_and_exceptions_pass_them_by) {
  run([] {
    EXPECT_EQ(async([] { return 1; }).then([](int i) { return i + 1; }).then([](int i) { return i * 10; }).get(), 20);
    EXPECT_EQ(async([] {}).then([] { return 3; }).get(), 3);
    int ran = 0;
    auto f = async([]() -> int { throw std::runtime_error("first"); }).then([&ran](int) { ++ran; }).then([&ran] {
      ++ran;
      return 1;
    });
    EXPECT_EQ(sentence_of([&f] { f.get(); }), "first");
    EXPECT_EQ(ran, 0);
    auto thrown = async([] { return 2; }).then([](int i) -> int { throw std::runtime_error(std::to_string(i)); });
    EXPECT_EQ(sentence_of([&thrown] { thrown.get(); }), "2");
    auto ready = async([] { return 5; });
    ready.wait();
    EXPECT_EQ(ready.then([](int i) { return i + 1; }).get(), 6);
    EXPECT_EQ(async([] { return std::make_unique<int>(4); }).then([](std::unique_ptr<int> p) { return *p; }).get(), 4);
  });
}

TEST_P(futures, continuations_may_wait_and_a_long_chain_needs_no_deep_stack) {
  run([] {
    semaphore go(0);
    auto f = async([&go] {
      go.acquire();
      return 0;
    });
    constexpr int k_links = 20'000;
    for (int i = 0; i < k_links; ++i)
      f = f.then([i](int sum) {
        if (i % 1000 == 0) yield();
        return sum + 1;
      });
    go.release();
    EXPECT_EQ(f.get(), k_links);
  });
}

// Each waits for the one before, which has not begun: nested on one stack they would overflow it.
TEST_P(futures, that_wait_for_one_another_need_no_deep_stack) {
  run([] {
    constexpr int k_links = sched::k_deep;
    const auto chain = [](int links) {
      std::vector<future<int>> all(static_cast<std::size_t>(links));
      all[0] = async([] { return 0; });
      for (std::size_t i = 1; i < all.size(); ++i) all[i] = async([&before = all[i - 1]] { return before.get() + 1; });
      return all.back().get();
    };
    EXPECT_EQ(async([&] { return chain(k_links); }).get(), k_links - 1);
    EXPECT_EQ(chain(k_links), k_links - 1);
  });
}

TEST_P(futures, a_continuation_runs_on_the_worker_that_made_the_value) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      semaphore go(0);
      std::thread::id first;
      auto f = async([&] {
                 go.acquire();
                 first = std::this_thread::get_id();
               }).then([&first] { return std::this_thread::get_id() == first; });
      go.release();
      EXPECT_TRUE(f.get());
    }
  });
}

TEST_P(futures, of_all_are_ready_when_each_is) {
  run([] {
    semaphore go(0);
    auto both = when_all(async([&go] {
                           go.acquire();
                           return 1;
                         }),
                         async([] {}), async([] { return std::string("three"); }));
    EXPECT_FALSE(both.ready());
    go.release();
    auto [one, two, three] = both.get();
    EXPECT_EQ(one, 1);
    EXPECT_EQ(three, "three");

    std::vector<future<int>> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(async([i] {
        if (i % 3 == 0) yield();
        return i;
      }));
    const int sum = when_all(std::move(many))
                        .then([](std::vector<int> all) { return std::accumulate(all.begin(), all.end(), 0); })
                        .get();
    EXPECT_EQ(sum, 4950);
    EXPECT_EQ(when_all(std::vector<future<int>>()).then([](std::vector<int> v) { return v.size(); }).get(), 0U);
    std::vector<future<void>> nothings;
    nothings.push_back(async([] { yield(); }));
    when_all(std::move(nothings)).get();

    auto nested = when_all(when_all(async([] { return 1; }), async([] { return 2; })), async([] { return 3; }));
    nested.wait();
    EXPECT_TRUE(nested.ready());
    EXPECT_EQ(nested.then([](auto all) { return std::get<1>(std::get<0>(all)) + std::get<1>(all); }).get(), 5);

    auto failing =
        when_all(async([] { return 1; }), async([]() -> int { throw std::runtime_error("of all"); })).then([](auto) {
          return 0;
        });
    EXPECT_EQ(sentence_of([&failing] { failing.get(); }), "of all");
  });
}

TEST_P(futures, of_promises_get_what_is_set_from_any_task) {
  run([] {
    promise<int> p;
    auto f = p.get_future();
    EXPECT_FALSE(f.ready());
    task_group group;
    group.run([&p] { p.set_value(5); });
    EXPECT_EQ(f.get(), 5);
    group.wait();

    promise<void> q;
    auto g = q.get_future().then([] { return 6; });
    q.set_value();
    EXPECT_EQ(g.get(), 6);

    promise<std::string> r;
    auto h = r.get_future();
    r.set_exception(std::make_exception_ptr(std::runtime_error("set")));
    EXPECT_EQ(sentence_of([&h] { h.get(); }), "set");

    promise<std::string> unasked;
    unasked.set_value("nobody wants it");
    promise<int> s;
    { auto dropped = s.get_future(); }
    s.set_value(1);
    promise<int> t;
    {
      auto dropped = t.get_future().then([](int i) { return i; });
    }
    t.set_value(1);
  });
}

TEST_P(futures, of_promises_may_be_dropped_before_a_thread_sets_them) {
  struct alignas(64) wide {
    int value;
  };
  using large = std::array<char, 300>;
  std::thread thread;  // outlives the pool
  std::atomic<bool> dropped{false};
  const auto counted = std::make_shared<int>(1);
  run([&] {
    auto values =
        std::make_shared<std::tuple<promise<std::shared_ptr<int>>, promise<wide>, promise<large>, promise<int>>>();
    const auto a = std::get<0>(*values).get_future();
    const auto b = std::get<1>(*values).get_future();
    const auto c = std::get<2>(*values).get_future();
    // The future of the last one is never asked for.
    thread = std::thread([&dropped, &counted, values = std::move(values)]() mutable {
      while (!dropped.load()) std::this_thread::yield();
      std::get<0>(*values).set_value(counted);
      std::get<1>(*values).set_value(wide{1});
      std::get<2>(*values).set_value(large{});
      values.reset();
    });
  });
  dropped = true;
  thread.join();
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(futures, of_a_broken_promise_name_it) {
  run([] {
    future<int> f;
    {
      promise<int> p("the weather");
      f = p.get_future();
      const promise<int> moved = std::move(p);
    }
    try {
      f.get();
      ADD_FAILURE() << "nothing thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::abandoned);
      EXPECT_NE(std::string(e.what()).find("the promise 'the weather' was destroyed"), std::string::npos) << e.what();
    }
  });
}

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  auto a = async([n] { return fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  return a.get() + b;
}

TEST_P(futures, nest) {
  run([] { EXPECT_EQ(fib(18), 2584U); });
}

TEST_P(futures, closures_and_values_end_once) {
  auto counted = std::make_shared<int>(1);
  run([&counted] {
    for (int i = 0; i < 100; ++i) {
      auto f = async([counted] { return counted; }).then([counted](std::shared_ptr<int> p) { return p; });
      if (i % 2 == 0) f.get();
      promise<std::shared_ptr<int>> p;
      auto g = p.get_future();
      p.set_value(counted);
      auto all = when_all(std::move(g), async([counted] { return counted; }));
      if (i % 3 == 0) all.get();
    }
  });
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace shoal
