// SPDX-License-Identifier: Apache-2.0
// Continuations of futures that were dropped: nobody waits for them but the end of the pool.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/sync.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal {
namespace {

class detached : public testing::TestWithParam<unsigned> {
protected:
  template <class F>
  void run(F&& f) const {
    sched::run_pool(GetParam(), std::forward<F>(f));
  }
};

INSTANTIATE_TEST_SUITE_P(workers, detached, testing::Values(1U, 2U, 4U),
                         [](const auto& given) { return std::to_string(given.param) + "_workers"; });

void wait_a_while() {
  for (int i = 0; i < 20; ++i) yield();
}

TEST_P(detached, continuations_that_wait_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    promise<int> p;
    {
      auto f = p.get_future().then([&ended](int i) {
        wait_a_while();
        ended += i;
      });
    }
    p.set_value(1);
  });
  EXPECT_EQ(ended.load(), 1);
}

TEST_P(detached, continuations_of_a_ready_future_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    for (int i = 0; i < 10; ++i) {
      promise<void> p;
      auto ready = p.get_future();
      p.set_value();
      auto f = ready.then([&ended] {
        wait_a_while();
        ++ended;
      });
    }
  });
  EXPECT_EQ(ended.load(), 10);
}

TEST_P(detached, chains_whose_links_wait_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    promise<int> p;
    {
      auto f = p.get_future();
      for (int i = 0; i < 100; ++i)
        f = f.then([&ended](int sum) {
          yield();
          ++ended;
          return sum + 1;
        });
    }
    p.set_value(0);
  });
  EXPECT_EQ(ended.load(), 100);
}

// The main task ends first; the continuations then set one another's promises, and begin tasks.
TEST_P(detached, continuations_may_wait_for_locks_tasks_and_one_another) {
  std::atomic<int> ended{0};
  run([&ended] {
    auto lock = std::make_shared<mutex>();
    auto second = std::make_shared<promise<int>>();
    promise<void> first;
    {
      auto f = first.get_future().then([&ended, lock, later = std::make_shared<future<int>>(second->get_future())] {
        const std::lock_guard hold(*lock);
        ended += later->get();
      });
    }
    promise<void> other;
    {
      auto f = other.get_future().then([&ended, lock, second] {
        wait_a_while();
        second->set_value(1);
        const std::lock_guard hold(*lock);
        task_group group;
        for (int i = 0; i < 10; ++i)
          group.run([&ended] {
            wait_a_while();
            ++ended;
          });
        group.wait();
      });
    }
    first.set_value();
    other.set_value();
  });
  EXPECT_EQ(ended.load(), 11);
}

void begin_another(std::atomic<int>& ended, int left) {
  ++ended;
  if (left == 0) return;
  promise<void> p;
  {
    auto f = p.get_future().then([&ended, left] {
      yield();
      begin_another(ended, left - 1);
    });
  }
  p.set_value();
}

TEST_P(detached, each_continuation_may_begin_the_next) {
  std::atomic<int> ended{0};
  run([&ended] { begin_another(ended, 1000); });
  EXPECT_EQ(ended.load(), 1001);
}

TEST_P(detached, continuations_of_several_futures_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    for (int i = 0; i < 20; ++i) {
      promise<int> p;
      {
        auto slow = async([&ended] {
          wait_a_while();
          ++ended;
          return 1;
        });
        auto f = when_all(p.get_future(), std::move(slow), async([] { yield(); })).then([&ended](auto) {
          yield();
          ++ended;
        });
      }
      if (i % 2 == 0) yield();
      p.set_value(1);
    }
  });
  EXPECT_EQ(ended.load(), 40);
}

TEST_P(detached, continuations_of_nested_gatherings_end_before_the_pool) {
  std::atomic<int> ended{0};
  run([&ended] {
    promise<void> p;
    {
      const auto slow = [&ended] {
        wait_a_while();
        ++ended;
      };
      auto both = when_all(async(slow), async(slow));
      auto f = when_all(p.get_future(), std::move(both), async(slow).then(slow)).then([slow](auto) { slow(); });
    }
    p.set_value();
  });
  EXPECT_EQ(ended.load(), 5);
}

TEST_P(detached, a_promise_that_is_never_set_holds_up_nothing) {
  std::atomic<int> ended{0};
  std::vector<promise<int>> never_set;
  run([&] {
    never_set.emplace_back();
    auto a = never_set.back().get_future().then([&ended](int) { ++ended; });
    never_set.emplace_back();
    auto b = when_all(never_set.back().get_future(), async([&ended] {
                        wait_a_while();
                        ended += 10;
                      }))
                 .then([&ended](auto) { ++ended; });
  });
  EXPECT_EQ(ended.load(), 10);
  testing::internal::CaptureStderr();  // that the promises are broken
  run([&never_set] { never_set.clear(); });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("was destroyed before it was set"), std::string::npos);
  EXPECT_EQ(ended.load(), 10);
}

TEST_P(detached, exceptions_are_logged_when_the_pool_has_waited) {
  testing::internal::CaptureStderr();
  run([] {
    promise<void> p;
    {
      auto f = p.get_future().then([] {
        wait_a_while();
        throw std::runtime_error("said late");
      });
    }
    p.set_value();
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("said late"), std::string::npos);
}

TEST_P(detached, continuations_end_before_a_pool_without_a_main_task) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ended{0};
    {
      sched::pool_options options;
      options.workers = GetParam();
      options.most_stacks = std::size_t{1} << 14;
      sched::pool workers(options);
      struct begins final : sched::errand {
        std::atomic<int>* ended = nullptr;
        std::atomic<bool> done{false};
      } one;
      one.ended = &ended;
      one.run = [](detail::task& t) noexcept {
        auto& self = static_cast<begins&>(static_cast<sched::errand&>(t));
        begin_another(*self.ended, 10);
        self.done = true;
      };
      workers.start();
      workers.submit(one);
      while (!one.done.load()) std::this_thread::yield();
      workers.finish();
      EXPECT_EQ(ended.load(), 11);
    }
  }
}

}  // namespace
}  // namespace shoal
