// SPDX-License-Identifier: Apache-2.0
#include "shoal/blocking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>

#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::run_pool;

class blocking_calls : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, blocking_calls, testing::Values(1U, 2U, 4U));

// Each call blocks its thread until another task has run.
TEST_P(blocking_calls, leave_the_worker_to_others) {
  run_pool(GetParam(), [] {
    constexpr int k_calls = 20;
    std::counting_semaphore<k_calls> opens(0);
    std::atomic<int> ended{0};
    shoal::task_group group;
    for (int i = 0; i < k_calls; ++i)
      group.run([&] {
        shoal::blocking([&] { opens.acquire(); });
        ++ended;
      });
    while (shoal::sched::this_worker()->owner().blocking().count() < k_calls) shoal::yield();
    EXPECT_EQ(ended, 0);
    opens.release(k_calls);
    group.wait();
    EXPECT_EQ(ended, k_calls);
  });
}

TEST_P(blocking_calls, give_results_exceptions_and_errno) {
  run_pool(GetParam(), [] {
    errno = ENOENT;
    EXPECT_EQ(shoal::blocking([] { return errno == ENOENT ? std::string("text") : std::string(); }), "text");
    shoal::blocking([] { errno = EAGAIN; });
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_THROW(shoal::blocking([]() -> int { throw std::runtime_error("in the call"); }), std::runtime_error);
    EXPECT_TRUE(shoal::blocking([] { return shoal::detail::t_worker == nullptr; }));
  });
  EXPECT_EQ(shoal::blocking([] { return std::this_thread::get_id(); }), std::this_thread::get_id());
}

TEST(blocking_calls, beyond_the_limit_wait_for_their_turn) {
  shoal::sched::pool_options options;
  options.workers = 2;
  options.most_blocking_threads = 3;
  shoal::sched::pool p(options);
  p.run([&p] {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    shoal::task_group group;
    for (int i = 0; i < shoal::rounds(500, 50); ++i)
      group.run([&] {
        shoal::blocking([&] {
          const int now = ++inside;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --inside;
        });
      });
    group.wait();
    EXPECT_LE(most, 3);
    EXPECT_LE(p.blocking().count(), 3U);
  });
}

}  // namespace
