// SPDX-License-Identifier: Apache-2.0
#include "aggregate/outbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace shoal::aggregate {
namespace {

// A channel of buffers of 8 words, of which two may be in flight.
class small_channel final : public net::out_channel {
public:
  std::uint64_t* acquire() noexcept override { return sent.size() - released < 2 ? open : nullptr; }
  void post(std::size_t words) noexcept override { sent.emplace_back(open, open + words); }
  std::size_t capacity_words() const noexcept override { return 8; }
  std::uint64_t posted() const noexcept override { return sent.size(); }
  std::uint64_t done() const noexcept override { return released; }

  std::uint64_t open[8] = {};
  std::vector<std::vector<std::uint64_t>> sent;
  std::size_t released = 0;
};

class outboxes : public testing::Test {
protected:
  outboxes() { box_.attach(channel_, stream_, counts_, 0); }
  bool write(std::uint64_t value, std::size_t words = 1) {
    if (!box_.make_room(words)) return false;
    for (std::size_t i = 0; i < words; ++i) *stream_.cursor++ = value;
    return true;
  }
  std::uint64_t count(reason r) const { return counts_.buffers[static_cast<std::size_t>(r)]; }

  small_channel channel_;
  detail::stream stream_;
  flush_counts counts_;
  outbox box_;
};

TEST_F(outboxes, an_empty_buffer_never_leaves) {
  EXPECT_FALSE(box_.has_content());
  EXPECT_FALSE(box_.publish(reason::asked));
  ASSERT_TRUE(box_.make_room(1));
  EXPECT_FALSE(box_.publish(reason::idle));
  EXPECT_TRUE(channel_.sent.empty());
  EXPECT_EQ(box_.mark(), 0U);
}

TEST_F(outboxes, what_is_written_leaves_in_order_when_asked) {
  ASSERT_TRUE(write(1));
  ASSERT_TRUE(write(2, 2));
  EXPECT_TRUE(box_.has_content());
  EXPECT_TRUE(box_.publish(reason::asked));
  EXPECT_FALSE(box_.has_content());
  ASSERT_TRUE(write(3));
  EXPECT_TRUE(box_.publish(reason::old));
  EXPECT_EQ(channel_.sent, (std::vector<std::vector<std::uint64_t>>{{1, 2, 2}, {3}}));
  EXPECT_EQ(count(reason::asked), 1U);
  EXPECT_EQ(count(reason::old), 1U);
  EXPECT_EQ(counts_.words, 4U);
}

TEST_F(outboxes, a_command_that_does_not_fit_begins_the_next_buffer) {
  ASSERT_TRUE(write(1, 6));
  ASSERT_TRUE(write(2, 3));
  ASSERT_EQ(channel_.sent.size(), 1U);
  EXPECT_EQ(channel_.sent[0].size(), 6U);
  EXPECT_EQ(count(reason::full), 1U);
  ASSERT_TRUE(write(3, 5));  // exactly full: stays until something else comes
  EXPECT_EQ(channel_.sent.size(), 1U);
}

TEST_F(outboxes, says_no_when_too_many_are_under_way_and_goes_on_when_one_is_released) {
  ASSERT_TRUE(write(1, 8));
  ASSERT_TRUE(write(2, 8));
  EXPECT_FALSE(write(3));  // the second was sent, and there is no third
  EXPECT_EQ(channel_.sent.size(), 2U);
  EXPECT_FALSE(box_.can_open());
  EXPECT_FALSE(write(3));
  channel_.released = 1;
  EXPECT_TRUE(box_.can_open());
  EXPECT_TRUE(write(3));
  EXPECT_TRUE(box_.publish(reason::idle));
  EXPECT_EQ(channel_.sent.back(), (std::vector<std::uint64_t>{3}));
}

TEST_F(outboxes, a_mark_is_reached_when_all_written_before_has_been_executed) {
  EXPECT_TRUE(box_.reached(box_.mark()));
  ASSERT_TRUE(write(1));
  const std::uint64_t open = box_.mark();
  EXPECT_FALSE(box_.reached(open));
  box_.publish(reason::asked);
  EXPECT_EQ(box_.mark(), open);
  EXPECT_FALSE(box_.reached(open));
  ASSERT_TRUE(write(2));
  const std::uint64_t later = box_.mark();
  box_.publish(reason::asked);
  channel_.released = 1;
  EXPECT_TRUE(box_.reached(open));
  EXPECT_FALSE(box_.reached(later));
  channel_.released = 2;
  EXPECT_TRUE(box_.reached(later));
}

}  // namespace
}  // namespace shoal::aggregate
