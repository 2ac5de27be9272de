// SPDX-License-Identifier: Apache-2.0
#include "shoal/blocking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "machine/executor.hpp"
#include "shoal/error.hpp"
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

// That of production, but for threads of blocking calls, which it may refuse.
class refusing_executor final : public shoal::machine::executor {
public:
  std::atomic<bool> refuses{false};

  std::uint64_t now_ns() noexcept override { return of_production_.now_ns(); }
  bool has_real_clock() noexcept override { return true; }
  shoal::machine::futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                                    bool shared) noexcept override {
    return of_production_.wait(word, expected, timeout_ns, shared);
  }
  int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept override {
    return of_production_.wake(word, count, shared);
  }
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override {
    return of_production_.wait_any(descriptors, timeout_ns);
  }
  void yield() noexcept override { of_production_.yield(); }
  unsigned processors() noexcept override { return of_production_.processors(); }
  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override {
    if (refuses && name == "shoal-block") throw std::system_error(EAGAIN, std::generic_category());
    return of_production_.start_thread(std::move(name), std::move(body));
  }

private:
  shoal::machine::executor& of_production_ = shoal::machine::threads();
};

TEST(blocking_calls, say_what_to_do_where_the_system_refuses_threads_and_share_those_that_there_are) {
  refusing_executor executor;
  shoal::sched::pool_options options;
  options.workers = 2;
  options.executor = &executor;
  shoal::sched::pool p(options);
  p.run([&] {
    executor.refuses = true;
    try {
      shoal::blocking([] {});
      FAIL() << "there is no thread";
    } catch (const shoal::error& e) {
      EXPECT_EQ(e.code(), shoal::errc::exhausted);
      EXPECT_NE(std::string(e.what()).find("ulimit -u"), std::string::npos);
    }
    executor.refuses = false;
    shoal::blocking([] {});
    executor.refuses = true;
    std::atomic<int> ended{0};
    shoal::task_group group;
    for (int i = 0; i < 20; ++i) group.run([&ended] { ended += shoal::blocking([] { return 1; }); });
    group.wait();
    EXPECT_EQ(ended, 20);
    EXPECT_EQ(p.blocking().count(), 1U);
  });
}

}  // namespace
