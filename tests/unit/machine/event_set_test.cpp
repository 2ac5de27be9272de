// SPDX-License-Identifier: Apache-2.0
#include "machine/event_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "machine/process.hpp"

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
  std::vector<std::uint32_t> taken() {
    std::array<std::uint32_t, 4> room{};
    const auto got = set_.take(room);
    return {got.begin(), got.end()};
  }
  bool readable(std::int64_t limit_ns) { return wait_any(std::array{set_.descriptor()}, limit_ns) == 0; }

  event_set set_;
  std::array<std::array<int, 2>, 2> pipes_{};
};

using numbers = std::vector<std::uint32_t>;

TEST_F(event_sets, give_what_is_armed_and_readable_once) {
  write_to(0);
  write_to(1);
  EXPECT_EQ(taken(), numbers{});
  set_.arm(pipes_[1][0], 1);
  EXPECT_EQ(taken(), numbers{1});
  set_.arm(pipes_[0][0], 0);
  EXPECT_EQ(taken(), numbers{0});  // 1 is readable still, and no longer armed
  EXPECT_EQ(taken(), numbers{});
  set_.arm(pipes_[0][0], 0);
  set_.arm(pipes_[1][0], 1);
  EXPECT_EQ(taken().size(), 2U);
}

TEST_F(event_sets, are_readable_while_there_is_something_to_take) {
  set_.arm(pipes_[0][0], 0);
  EXPECT_FALSE(readable(0));
  std::thread writer([this] { write_to(0); });
  EXPECT_TRUE(readable(20'000'000'000));
  writer.join();
  EXPECT_TRUE(readable(0));
  EXPECT_EQ(taken(), numbers{0});
  EXPECT_FALSE(readable(0));
}

TEST_F(event_sets, give_no_more_than_there_is_room_for) {
  write_to(0);
  write_to(1);
  set_.arm(pipes_[0][0], 0);
  set_.arm(pipes_[1][0], 1);
  std::array<std::uint32_t, 1> room{};
  std::uint32_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const auto got = set_.take(room);
    ASSERT_EQ(got.size(), 1U);
    sum += got[0];
  }
  EXPECT_EQ(sum, 1U);
  EXPECT_TRUE(set_.take(room).empty());
}

}  // namespace
}  // namespace shoal::machine
