// SPDX-License-Identifier: Apache-2.0
#include "remote/transfers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::remote {
namespace {

struct counted final : stream_waiter {
  counted() noexcept {
    fire = [](stream_waiter& w) noexcept { ++static_cast<counted&>(w).times; };
  }
  int times = 0;
};

class transfers_test : public testing::Test {
protected:
  bool begin() {
    return all_.begin([this](std::atomic<bool>& done) {
      flags_.push_back(&done);
      return true;
    });
  }
  void land(std::size_t which) { flags_[which]->store(true); }
  transfers all_;
  std::vector<std::atomic<bool>*> flags_;
};

TEST_F(transfers_test, a_mark_is_reached_when_all_before_it_have_ended_in_any_order) {
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(begin());
  counted w;
  w.executed_mark = all_.mark();
  all_.append(w);
  land(2);
  land(1);
  EXPECT_FALSE(all_.ready());
  EXPECT_FALSE(all_.end());
  EXPECT_TRUE(begin());  // after the mark
  land(0);
  EXPECT_TRUE(all_.ready());
  EXPECT_TRUE(all_.end());
  EXPECT_EQ(w.times, 1);
  EXPECT_FALSE(all_.empty());
  land(3);
  EXPECT_TRUE(all_.end());
  EXPECT_TRUE(all_.empty());
}

TEST_F(transfers_test, what_is_refused_is_not_in_flight) {
  EXPECT_FALSE(all_.begin([](std::atomic<bool>&) { return false; }));
  EXPECT_TRUE(all_.empty());
  EXPECT_FALSE(all_.ready());
}

TEST_F(transfers_test, many_pass_through_few_places) {
  for (std::uint64_t k = 0; k < 3 * transfers::k_most; ++k) {
    if (all_.full()) {
      land(k - transfers::k_most);
      EXPECT_TRUE(all_.end());
      EXPECT_TRUE(all_.reached(k - transfers::k_most + 1));
    }
    EXPECT_TRUE(begin());
    EXPECT_EQ(all_.full(), k + 1 >= transfers::k_most);
  }
  EXPECT_EQ(all_.mark(), 3 * transfers::k_most);
}

}  // namespace
}  // namespace shoal::remote
