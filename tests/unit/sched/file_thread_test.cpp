// SPDX-License-Identifier: Apache-2.0
#include "sched/file_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

TEST(file_threads, a_task_that_waits_leaves_its_worker_to_others) {
  run_pool(1, [] {
    std::atomic<bool> other_ran{false};
    task_group others;
    others.run([&] { other_ran = true; });
    file_thread disk;
    const auto worker = std::this_thread::get_id();
    disk.run([&] {
      EXPECT_NE(std::this_thread::get_id(), worker);
      while (!other_ran) std::this_thread::yield();  // the only worker must run it meanwhile
    });
    EXPECT_EQ(std::this_thread::get_id(), worker);
    others.wait();
  });
}

TEST(file_threads, what_the_function_throws_arrives) {
  run_pool(2, [] {
    file_thread disk;
    EXPECT_THROW(disk.run([] { throw std::runtime_error("full"); }), std::runtime_error);
    int ran = 0;
    disk.run([&] { ++ran; });
    EXPECT_EQ(ran, 1);
  });
}

TEST(file_calls, tasks_get_a_thread_and_threads_do_it_themselves) {
  const auto main = std::this_thread::get_id();
  file_calls outside;
  outside.run([&] { EXPECT_EQ(std::this_thread::get_id(), main); });
  run_pool(1, [] {
    file_calls inside;
    const auto worker = std::this_thread::get_id();
    for (int k = 0; k < 3; ++k) inside.run([&] { EXPECT_NE(std::this_thread::get_id(), worker); });
  });
}

}  // namespace
}  // namespace shoal::sched
