// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/completion.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::detail {
namespace {

class completions : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, completions, testing::Values(1U, 2U, 4U));

// A task that ends one operation of a completion.
struct ender final : task {
  explicit ender(completion& of) : ended(of) {
    run = [](task& t) noexcept { static_cast<ender&>(t).ended.done(); };
  }
  completion& ended;
};

TEST_P(completions, are_waited_for_in_part_and_used_again) {
  sched::run_pool(GetParam(), [] {
    for (int round = 0; round < 200; ++round) {
      completion c;
      std::vector<std::unique_ptr<ender>> tasks;
      for (int i = 0; i < 20; ++i) {
        tasks.push_back(std::make_unique<ender>(c));
        spawn(worker_here(), *tasks.back());
        c.add();
      }
      EXPECT_EQ(c.begun(), 20);
      c.wait_for(7);
      EXPECT_EQ(c.begun(), 13);
      c.wait();
      EXPECT_TRUE(c.nothing_begun());
      EXPECT_FALSE(c.awaited());
    }
  });
}

TEST_P(completions, keep_the_first_failure_and_forget_it_when_it_is_thrown) {
  sched::run_pool(GetParam(), [] {
    completion c;
    c.fail(std::make_exception_ptr(std::runtime_error("first")));
    c.fail(std::make_exception_ptr(std::runtime_error("second")));
    EXPECT_TRUE(c.has_failed());
    try {
      c.wait_and_rethrow();
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "first");
    }
    EXPECT_FALSE(c.has_failed());
    c.wait_and_rethrow();
    c.fail(std::make_exception_ptr(std::runtime_error("third")));
    EXPECT_NE(c.take_failure(), nullptr);
  });
}

TEST_P(completions, wait_when_they_are_destroyed) {
  sched::run_pool(GetParam(), [] {
    std::atomic<bool> ended{false};
    struct late final : task {
      completion* of = nullptr;
      std::atomic<bool>* ended = nullptr;
    } child;
    child.run = [](task& t) noexcept {
      auto& self = static_cast<late&>(t);
      yield();
      self.ended->store(true);
      self.of->done();
    };
    {
      completion c;
      child.of = &c;
      child.ended = &ended;
      c.add();
      spawn(worker_here(), child);
    }
    EXPECT_TRUE(ended);
  });
}

// The callback destroys the completion.
struct owner final : completion_callback {
  explicit owner(completion& to_tell)
      : completion_callback([](completion_callback& c) noexcept {
          auto& self = static_cast<owner&>(c);
          completion& told = self.tell;
          self.waited.reset();
          told.done();
        }),
        tell(to_tell) {}
  completion& tell;
  std::unique_ptr<completion> waited = std::make_unique<completion>();
};

TEST_P(completions, call_back_once_all_have_ended) {
  sched::run_pool(GetParam(), [] {
    for (int round = 0; round < 500; ++round) {
      completion told;
      told.add();
      owner o(told);
      ender one(*o.waited);
      ender two(*o.waited);
      o.waited->add(2);
      spawn(worker_here(), one);
      spawn(worker_here(), two);
      if (round % 2 == 0) yield();
      if (!o.waited->call_when_done(o)) told.ran_here();
      told.wait();
    }
  });
}

}  // namespace
}  // namespace shoal::detail
