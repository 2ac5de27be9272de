// SPDX-License-Identifier: Apache-2.0
#include "machine/event_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace shoal::machine {
namespace {

class event_sets : public testing::Test {
protected:
  void SetUp() override {
    for (auto& p : pipes_) ASSERT_EQ(::pipe(p.data()), 0);
    for (std::uint32_t i = 0; i < 2; ++i) set_.add(pipes_.at(i)[0], i);
  }
  void TearDown() override {
    for (const auto& p : pipes_)
      for (const int d : p) ::close(d);
  }
  void write_to(std::size_t i) { ASSERT_EQ(::write(pipes_.at(i)[1], "x", 1), 1); }

  event_set set_;
  std::array<std::array<int, 2>, 2> pipes_{};
};

TEST_F(event_sets, give_what_is_armed_and_readable_once) {
  write_to(0);
  write_to(1);
  set_.arm(pipes_[1][0], 1);
  EXPECT_EQ(set_.wait(), 1U);
  set_.arm(pipes_[0][0], 0);
  EXPECT_EQ(set_.wait(), 0U);  // 1 is readable still, and no longer armed
  set_.arm(pipes_[1][0], 1);
  EXPECT_EQ(set_.wait(), 1U);
}

TEST_F(event_sets, wake_for_what_comes_later_and_for_the_end) {
  set_.arm(pipes_[0][0], 0);
  std::thread writer([this] { write_to(0); });
  EXPECT_EQ(set_.wait(), 0U);
  writer.join();
  std::thread stopper([this] { set_.stop(); });
  EXPECT_EQ(set_.wait(), std::nullopt);
  stopper.join();
}

}  // namespace
}  // namespace shoal::machine
