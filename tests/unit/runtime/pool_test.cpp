// SPDX-License-Identifier: Apache-2.0
#include "shoal/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "machine/process.hpp"
#include "shoal/array.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/on.hpp"
#include "shoal/profile.hpp"
#include "shoal/task.hpp"
#include "unit/machine/in_child.hpp"

namespace {

using shoal::pool;
using shoal::pool_options;

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  shoal::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  group.wait();
  return a + b;
}

class pools : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, pools, testing::Values(1U, 2U, 4U));

TEST_P(pools, run_gives_the_result) {
  pool p(GetParam());
  EXPECT_EQ(p.workers(), GetParam());
  EXPECT_EQ(p.run([] { return fib(18); }), 2584U);
  int changed = 0;
  p.run([&changed] { changed = 1; });
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(p.run([] { return shoal::worker_count(); }), GetParam());
}

TEST_P(pools, run_gives_references_and_what_only_moves) {
  pool p(GetParam());
  int here = 7;
  int& same = p.run([&here]() -> int& { return here; });
  EXPECT_EQ(&same, &here);
  const std::unique_ptr<int> made = p.run([] { return std::make_unique<int>(5); });
  EXPECT_EQ(*made, 5);
  auto future = p.submit([held = std::make_unique<int>(6)] { return *held; });
  EXPECT_EQ(future.get(), 6);
}

TEST_P(pools, exceptions_arrive_where_one_waits) {
  pool p(GetParam());
  EXPECT_THROW(p.run([] { throw std::out_of_range("thrown in a pool"); }), std::out_of_range);
  auto future = p.submit([]() -> int { throw std::domain_error("thrown in a pool"); });
  EXPECT_THROW(future.get(), std::domain_error);
  EXPECT_EQ(p.run([] { return 3; }), 3);
}

TEST_P(pools, many_threads_run_at_once) {
  pool p(GetParam());
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&p, &right] {
      for (int i = 0; i < 50; ++i) right += p.run([] { return fib(10); }) == 55U ? 1 : 0;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(right.load(), 400);
}

TEST_P(pools, submitted_tasks_may_wait_for_each_other) {
  pool p(GetParam());
  std::atomic<bool> flag{false};
  auto waits = p.submit([&flag] {
    while (!flag.load()) shoal::yield();
  });
  auto raises = p.submit([&flag] { flag.store(true); });
  waits.get();
  raises.get();
}

TEST_P(pools, a_busy_worker_begins_what_is_submitted) {
  pool p(GetParam());
  std::atomic<bool> flag{false};
  p.run([&] {
    p.submit([&flag] { flag.store(true); });
    shoal::task_group group;
    for (int i = 0; i < 2; ++i)
      group.run([&flag] {
        while (!flag.load()) shoal::yield();
      });
    group.wait();
  });
}

TEST_P(pools, the_destructor_waits_for_what_was_submitted) {
  std::atomic<int> ended{0};
  {
    pool p(GetParam());
    for (int i = 0; i < 100; ++i)
      p.submit([&ended] {
        shoal::yield();
        ++ended;
      });
  }
  EXPECT_EQ(ended.load(), 100);
}

TEST_P(pools, refuses_what_comes_after_shutdown_has_begun) {
  pool p(GetParam());
  std::atomic<bool> asked{false};
  std::string said;
  auto inside = p.submit([&] {
    while (!asked.load()) shoal::yield();
    // shutdown() waits for this very task, so it has begun sooner or later.
    for (;;) try {
        p.submit([] {});
        shoal::yield();
      } catch (const shoal::error& e) {
        said = e.what();
        return e.code();
      }
  });
  asked.store(true);
  p.shutdown();
  EXPECT_EQ(inside.get(), shoal::errc::stopped);
  EXPECT_NE(said.find("shutting down"), std::string::npos) << said;
  EXPECT_THROW(p.run([] {}), shoal::error);
  p.shutdown();
}

TEST(pool_of_program, continuations_that_nobody_waits_for_run) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    pool p(1);
    p.run([&ran] {
      shoal::promise<int> answer("an answer");
      {
        auto dropped = answer.get_future().then([&ran](int) { ++ran; });
      }
      answer.set_value(1);
    });
  }
  EXPECT_EQ(ran.load(), 50);
}

TEST_P(pools, what_is_submitted_is_not_counted_as_spawned) {
  pool p(GetParam());
  auto span = p.begin_profile();
  for (int i = 0; i < 500; ++i) p.submit([] {});
  p.run([] {});
  p.shutdown();
  const shoal::profile seen = span.end();
  EXPECT_EQ(seen.total().spawn.count, 0U);
  EXPECT_EQ(seen.total().begun, 0U);
}

TEST_P(pools, what_is_submitted_begins_while_there_is_much_to_steal) {
  pool p(GetParam());
  std::atomic<bool> flag{false};
  auto busy = p.submit([&flag] {
    while (!flag.load()) {
      fib(12);
      shoal::yield();
    }
  });
  p.submit([&flag] { flag.store(true); });
  busy.get();
}

TEST(pool_of_program, several_live_at_once) {
  pool a(2);
  pool b(pool_options{.workers = 3, .settings = {{"steal", "nearest"}, {"topology", "package:3 core:1"}}});
  EXPECT_EQ(a.run([] { return shoal::worker_count(); }), 2U);
  EXPECT_EQ(b.run([] { return shoal::worker_count(); }), 3U);
  // A task of one may bring work to the other.
  auto nested = a.run([&b] { return b.submit([] { return fib(12); }); });
  EXPECT_EQ(nested.get(), 144U);
}

TEST(pool_of_program, names_wrong_settings) {
  const auto message = [](const pool_options& o) -> std::string {
    try {
      const pool p(o);
      return "";
    } catch (const shoal::error& e) {
      return e.what();
    }
  };
  EXPECT_NE(message({.settings = {{"steal", "rondom"}}}).find("nearest"), std::string::npos);
  EXPECT_NE(message({.settings = {{"topology", "package:2 core"}}}).find("topology"), std::string::npos);
  EXPECT_NE(message({.workers = 5000}).find("workers"), std::string::npos);
  EXPECT_NE(message({.settings = {{"wrkers", "2"}}}).find("wrkers"), std::string::npos);
}

std::size_t entries(const char* folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

TEST(pool_of_program, thousands_come_and_go_and_leave_nothing) {
  const auto mappings = [] {
    std::size_t lines = 0;
    std::string line;
    std::ifstream in("/proc/self/maps");
    while (std::getline(in, line)) ++lines;
    return lines;
  };
  // Threads take a moment to vanish from the list after they have been joined.
  const auto threads = [](std::size_t expected) {
    for (int i = 0; i < 1000 && entries("/proc/self/task") > expected; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return entries("/proc/self/task");
  };
  const auto once = [] {
    pool p(2);
    ASSERT_EQ(p.run([] { return fib(5); }), 5U);
  };
  for (int i = 0; i < 10; ++i) once();
  const std::size_t files_before = entries("/proc/self/fd");
  const std::size_t threads_before = threads(1);
  const std::size_t mappings_before = mappings();
#if SHOAL_CHECKED
  constexpr int k_pools = 300;  // sanitizers keep books of every thread
  constexpr std::size_t k_others = 50;
#else
  constexpr int k_pools = 10'000;
  constexpr std::size_t k_others = 8;  // the C library's arenas
#endif
  for (int i = 0; i < k_pools; ++i) once();
  EXPECT_EQ(entries("/proc/self/fd"), files_before);
  EXPECT_LE(threads(threads_before), threads_before);
  EXPECT_LE(mappings(), mappings_before + k_others);
}

TEST(pool_of_program, an_idle_one_sleeps) {
  pool p(2);
  p.run([] { fib(15); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  const double used =
      static_cast<double>(end.tv_sec - begin.tv_sec) + 1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
  RecordProperty("processor_seconds", std::to_string(used));
  EXPECT_LT(used, 0.025);  // ten times what is promised: the workers are asleep at all
}

TEST(pool_of_program, is_not_made_by_a_task) {
  pool p(1);
  const std::string said = p.run([] {
    try {
      const pool inner(1);
      return std::string();
    } catch (const shoal::error& e) {
      return std::string(e.what());
    }
  });
  EXPECT_NE(said.find("pools do not nest"), std::string::npos) << said;
  EXPECT_EQ(p.run([] { return fib(5); }), 5U);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(pool_of_program, of_a_parent_is_refused_in_a_child_and_ends_there_at_once) {
  const int status = shoal::machine::in_child([] {
    auto p = std::make_unique<pool>(2);
    std::atomic<bool> end{false};
    auto unfinished = p->submit([&end] {
      while (!end.load()) shoal::yield();
    });
    const int child = shoal::machine::in_child([&p] {
      const auto refused = [&p](auto&& call) {
        try {
          call();
        } catch (const shoal::error& e) {
          return e.code() == shoal::errc::unsupported;
        }
        return false;
      };
      if (!refused([&p] { p->run([] {}); })) return 1;
      if (!refused([&p] { p->submit([] {}); })) return 2;
      if (!refused([&p] { p->shutdown(); })) return 3;
      if (!refused([&p] { static_cast<void>(p->begin_profile()); })) return 4;
      p.reset();
      pool own(2);
      return own.run([] { return fib(5); }) == 5 ? 0 : 5;
    });
    end.store(true);
    unfinished.get();
    return shoal::machine::exited_with(child, 0) ? 0 : WEXITSTATUS(child) + 10;
  });
  EXPECT_TRUE(shoal::machine::exited_with(status, 0)) << status;
}
#endif

TEST(pool_of_program, each_profile_has_a_file_of_its_own) {
  const std::string folder = testing::TempDir() + "shoal_profiles_" + std::to_string(shoal::machine::own_pid());
  std::filesystem::create_directory(folder);
  const auto once = [&folder] {
    pool p(pool_options{.workers = 1,
                        .settings = {{"profile_json", folder + "/p.json"}, {"profile_picture", folder + "/q"}}});
    p.run([] { fib(5); });
  };
  testing::internal::CaptureStderr();
  once();
  once();
  testing::internal::GetCapturedStderr();
  for (const char* name : {"/p.json", "/p.2.json", "/q", "/q.2"}) {
    std::error_code none;
    EXPECT_GT(std::filesystem::file_size(folder + name, none), 100U) << name;
  }
  EXPECT_EQ(entries(folder.c_str()), 4U);
  std::filesystem::remove_all(folder);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
[[gnu::noinline]] int descend(volatile char* above) {
  volatile char frame[1000];
  frame[0] = *above;
  return above == nullptr ? 0 : descend(frame) + frame[1];
}

TEST(pool_death_test, an_overflow_of_a_submitted_task_names_its_body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto code = [](auto body) {
    return shoal::detail::promised<decltype(body), void>(std::in_place, std::move(body)).code;
  };
  EXPECT_NE(code([] {}), code([] { fib(1); }));
  EXPECT_DEATH(
      {
        pool p(1);
        p.run([] {
          volatile char start = 0;
          descend(&start);
        });
      },
      "the task .*0x[0-9a-f]+ .see addr2line -Cfie. has overflowed its stack");
}
#endif

TEST(pool_death_test, what_is_for_jobs_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(shoal::flush(), "this is for tasks of a job");
#if !SHOAL_TSAN && !SHOAL_ASAN  // which handle the fault themselves
  EXPECT_DEATH(pool(1).run([] { shoal::global_array<int> none(10); }), "pools have no global memory");
  EXPECT_DEATH(pool(1).run([] { shoal::on(0, [] {}); }), "pools have no global memory");
#endif
}

TEST(pool_death_test, run_from_a_task_is_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        pool p(1);
        p.run([&p] { p.run([] {}); });
      },
      "use a task_group");
}

}  // namespace
