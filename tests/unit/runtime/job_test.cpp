// SPDX-License-Identifier: Apache-2.0
#include "shoal/job.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shoal/shoal.hpp"

namespace shoal {
namespace {

run_options nodes_and_workers(unsigned nodes, unsigned workers, const char* direct = "on") {
  return {.settings = {{"nodes", std::to_string(nodes)},
                       {"workers", std::to_string(workers)},
                       {"segment", "64M"},
                       {"direct", direct}}};
}

TEST(job, main_tasks_run_one_after_another_and_arrays_live_from_one_to_the_next) {
  job j(nodes_and_workers(2, 2, "off"));
  EXPECT_EQ(j.node(), 0U);
  EXPECT_EQ(j.nodes(), 2U);
  std::optional<global_array<std::uint64_t>> counts;
  j.run([&] { counts.emplace(100); });
  for (int round = 0; round < 3; ++round)
    j.run([&] {
      parallel_for(everywhere, 1000, [c = counts->ref()](std::uint64_t i) { c.async_add(i % c.size(), 1); });
    });
  const std::uint64_t seventh = j.run([&] { return (*counts)->get(7); });
  EXPECT_EQ(seventh, 30U);
  j.run([&] { counts.reset(); });
  j.end();
}

TEST(job, threads_run_main_tasks_at_the_same_time) {
  constexpr int k_threads = 6, k_rounds = 40;
  job j(nodes_and_workers(2, 2));
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t)
    threads.emplace_back([&j, &sum, t] {
      for (int i = 0; i < k_rounds; ++i)
        sum += j.run([t, i] { return on(1, [t, i] { return static_cast<std::uint64_t>(t * k_rounds + i); }); });
    });
  for (auto& t : threads) t.join();
  constexpr std::uint64_t k_all = k_threads * k_rounds;
  EXPECT_EQ(sum.load(), k_all * (k_all - 1) / 2);
}

TEST(job, exceptions_of_a_main_task_reach_the_caller_and_the_job_goes_on) {
  job j(nodes_and_workers(2, 1));
  EXPECT_THROW(j.run([] { throw std::out_of_range("too far"); }), std::out_of_range);
  EXPECT_THROW(j.run([]() -> int { throw 42; }), int);
  EXPECT_THROW(j.run([] { on(1, [] { throw std::runtime_error("there"); }); }), remote_error);
  EXPECT_EQ(j.run([] { return on(1, [] { return node_id(); }); }), 1U);
}

TEST(job, results_are_moved_and_may_be_references) {
  job j(nodes_and_workers(1, 1));
  int x = 0;
  int& same = j.run([&x]() -> int& { return x; });
  EXPECT_EQ(&same, &x);
  EXPECT_EQ(*j.run([] { return std::make_unique<int>(3); }), 3);
}

TEST(job, tasks_submit_main_tasks_and_end_waits_for_all) {
  std::atomic<int> ran{0};
  {
    job j(nodes_and_workers(1, 2));
    j.run([&] {
      for (int i = 0; i < 10; ++i)
        static_cast<void>(j.submit([&ran] {
          for (int k = 0; k < 100; ++k) yield();
          ++ran;
        }));
    });
  }
  EXPECT_EQ(ran.load(), 10);
}

TEST(job, after_the_end_main_tasks_are_refused) {
  job j(nodes_and_workers(1, 1));
  j.run([] {});
  j.end();
  j.end();
  try {
    j.run([] {});
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::stopped);
    EXPECT_NE(std::string(e.what()).find("before end()"), std::string::npos) << e.what();
  }
}

TEST(job, errors_of_the_start_are_thrown_and_another_job_can_start) {
  EXPECT_THROW(job({.settings = {{"workers", "many"}}}), error);
  EXPECT_THROW(job({.settings = {{"no_such_setting", "1"}}}), error);
  EXPECT_THROW(job({.settings = {{"transport", "shm"}}}), error);
  EXPECT_EQ(job(nodes_and_workers(1, 1)).run([] { return 5; }), 5);
}

TEST(job, takes_its_settings_out_of_the_command_line) {
  std::string arguments[] = {"program", "--shoal-nodes=3", "--other", "--shoal-workers=1", "--shoal-segment=64M"};
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  int argc = static_cast<int>(argv.size());
  job j(argc, argv.data());
  EXPECT_EQ(j.nodes(), 3U);
  ASSERT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--other");
}

TEST(job, jobs_live_one_after_another_and_side_by_side) {
  for (int round = 0; round < 3; ++round) {
    job j(nodes_and_workers(2, 1));
    EXPECT_EQ(j.run([] { return on(1, [] { return 1; }); }), 1);
  }
  job a(nodes_and_workers(2, 1)), b(nodes_and_workers(3, 1, "off"));
  const auto count = [] {
    return parallel_reduce(
        everywhere, 0, 100, std::uint64_t{0}, [](std::uint64_t i) { return i; },
        [](std::uint64_t x, std::uint64_t y) { return x + y; });
  };
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(a.run(count), 4950U);
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(b.run(count), 4950U);
  other.join();
  EXPECT_EQ(shoal::run([] { return node_count() == 1 ? 7 : 8; }, nodes_and_workers(1, 1)), 7);
}

TEST(job, tasks_make_no_jobs_and_do_not_run_main_tasks) {
  job j(nodes_and_workers(1, 1));
  EXPECT_THROW(j.run([] { const job inner; }), error);
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child makes threads
  EXPECT_DEATH(
      {
        job inner(nodes_and_workers(1, 1));
        inner.run([&inner] { inner.run([] {}); });
      },
      "from a task use a task_group");
}

TEST(job, the_profile_is_written_at_the_end) {
  const std::string file = testing::TempDir() + "shoal_job_profile." + std::to_string(::getpid()) + ".json";
  run_options o = nodes_and_workers(1, 2);
  o.settings.emplace_back("profile_json", file);
  {
    job j(o);
    j.run([] { parallel_for(0, 1000, [](int) { yield(); }); });
    j.end();
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  std::filesystem::remove(file);
}

TEST(job, a_copy_made_by_fork_refuses_main_tasks_and_ends_at_once) {
  job j(nodes_and_workers(1, 1));
  const auto in_child = [&j] {
    const pid_t child = ::fork();
    if (child == 0) {
      int told = 1;
      try {
        static_cast<void>(j.submit([] {}));
      } catch (const error& e) {
        told = e.code() == errc::unsupported ? 0 : 2;
      }
      j.~job();
      std::_Exit(told);
    }
    return child;
  }();
  ASSERT_GT(in_child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(in_child, &status, 0), in_child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace shoal
