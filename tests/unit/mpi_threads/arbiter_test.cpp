// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/arbiter.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tools/mpi-threads/report.hpp"

namespace shoal::mpi_threads {
namespace {

constexpr const char* k_calls[] = {"Isend", "Wait"};

TEST(arbiter, counts_by_class_and_function_and_excludes) {
  arbiter a(settings{}, k_calls);
  std::uint64_t unguarded = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        for (int call : {0, 1}) {
          a.enter(a.me(), call, call == 0 ? k_high : k_low);
          EXPECT_TRUE(a.holding());
          ++unguarded;
          a.leave(a.me());
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(unguarded, 12000U);
  const arbiter_sum sum = a.sum();
  EXPECT_EQ(sum.calls[0].acquired[k_high], 6000U);
  EXPECT_EQ(sum.calls[0].acquired[k_low], 0U);
  EXPECT_EQ(sum.calls[1].acquired[k_low], 6000U);
  EXPECT_EQ(sum.by_thread, (std::vector<std::uint64_t>{4000, 4000, 4000}));
  EXPECT_LE(sum.won_again, sum.contended);
}

TEST(arbiter, a_thread_that_ends_inside_is_named_and_the_lock_is_free) {
  arbiter a(settings{}, k_calls);
  testing::internal::CaptureStderr();
  std::thread([&] {
    a.me().inside.store(1);
    a.enter(a.me(), 1, k_low);
  }).join();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("in MPI_Wait ended inside the MPI library"), std::string::npos) << said;
  a.enter(a.me(), 0, k_high);
  a.leave(a.me());
}

TEST(arbiter, a_child_is_not_held_up_by_a_lock_taken_before) {
  arbiter a(settings{}, k_calls);
  std::thread([&] {
    a.enter(a.me(), 0, k_high);
    a.forked();  // as in a child, where the holder does not exist
    EXPECT_TRUE(a.holding());
    a.me().holding = false;
  }).join();
  a.enter(a.me(), 0, k_high);
  a.leave(a.me());
}

TEST(report, is_json_with_what_was_counted) {
  process_report report;
  report.library = "openmpi";
  report.state = "finished";
  report.sum.calls.resize(2);
  report.sum.calls[1].calls = 3;
  report.sum.calls[1].acquired[k_low] = 5;
  report.sum.by_thread = {4, 1};
  const auto read = nlohmann::json::parse(report_json(report, k_calls));
  EXPECT_EQ(read.at("calls").size(), 1U);
  EXPECT_EQ(read.at("calls").at("Wait").at("low"), 5);
  EXPECT_EQ(read.at("threads").size(), 2U);
}

}  // namespace
}  // namespace shoal::mpi_threads
