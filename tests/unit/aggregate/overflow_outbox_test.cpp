// SPDX-License-Identifier: Apache-2.0
#include "aggregate/overflow_outbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace shoal::aggregate {
namespace {

// Buffers of 8 words, of which two may be in flight.
class two_buffers final : public net::out_channel {
public:
  std::uint64_t* acquire() noexcept override { return posts - released < 2 ? open : nullptr; }
  void post(std::size_t words) noexcept override {
    sent.insert(sent.end(), open, open + words);
    ++posts;
  }
  std::size_t capacity_words() const noexcept override { return 8; }
  std::uint64_t posted() const noexcept override { return posts; }
  std::uint64_t done() const noexcept override { return released; }

  std::uint64_t open[8] = {};
  std::vector<std::uint64_t> sent;
  std::uint64_t posts = 0;
  std::uint64_t released = 0;
};

constexpr std::uint64_t k_block_bytes = sizeof(overflow_outbox::block) + 8 * sizeof(std::uint64_t);

class overflow_outboxes : public testing::Test {
protected:
  overflow_outboxes() {
    box_.attach(&channel_, 8, stream_, counts_, memory_);
    own_.attach(nullptr, 8, own_stream_, counts_, memory_);
  }
  static bool write(overflow_outbox& box, detail::stream& stream, std::uint64_t value) {
    if (!box.make_room(1)) return false;
    *stream.cursor++ = value;
    return true;
  }
  bool write(std::uint64_t value) { return write(box_, stream_, value); }
  void write_up_to(std::uint64_t end) {
    for (; written_ < end; ++written_) ASSERT_TRUE(write(written_));
  }
  std::vector<std::uint64_t> up_to(std::uint64_t end) const {
    std::vector<std::uint64_t> all(end);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  two_buffers channel_;
  overflow_memory memory_{10 * k_block_bytes};
  detail::stream stream_, own_stream_;
  flush_counts counts_;
  overflow_outbox box_, own_;
  std::uint64_t written_ = 0;
};

TEST_F(overflow_outboxes, what_finds_no_buffer_stays_in_memory_and_holds_tasks_until_it_is_sent_in_order) {
  write_up_to(16);
  EXPECT_FALSE(box_.in_memory());
  EXPECT_FALSE(memory_.holds_tasks());
  write_up_to(42);  // two buffers, three blocks and a part of one
  EXPECT_EQ(channel_.sent, up_to(16));
  EXPECT_TRUE(box_.in_memory());
  EXPECT_TRUE(memory_.holds_tasks());
  EXPECT_EQ(memory_.used_bytes(), 4 * k_block_bytes);
  EXPECT_EQ(box_.mark(), 6U);
  EXPECT_FALSE(box_.can_drain());
  EXPECT_FALSE(box_.drain());
  EXPECT_FALSE(memory_.has_ended());
  while (channel_.sent.size() < 42) {
    ASSERT_EQ(channel_.released, channel_.posts - 2);
    ++channel_.released;
    EXPECT_TRUE(box_.can_drain());
    EXPECT_TRUE(box_.drain());
  }
  EXPECT_EQ(channel_.sent, up_to(42));
  EXPECT_FALSE(box_.in_memory());
  EXPECT_FALSE(memory_.holds_tasks());
  EXPECT_EQ(memory_.used_bytes(), 0U);
  EXPECT_TRUE(memory_.take_end());
  EXPECT_FALSE(memory_.take_end());
  EXPECT_EQ(channel_.posted(), 6U);
  EXPECT_FALSE(box_.reached(6));
  channel_.released = 6;
  EXPECT_TRUE(box_.reached(6));
}

TEST_F(overflow_outboxes, whole_buffers_follow_those_in_memory) {
  write_up_to(40);
  channel_.released = 2;
  write_up_to(80);
  channel_.released = channel_.posts;
  while (box_.publish(reason::asked)) channel_.released = channel_.posts;
  EXPECT_EQ(channel_.sent, up_to(80));
}

TEST_F(overflow_outboxes, beyond_the_limit_there_is_no_room_and_requests_are_held_from_half_of_it_on) {
  write_up_to(16 + 5 * 8);
  EXPECT_FALSE(memory_.holds_requests());
  write_up_to(16 + 6 * 8);
  EXPECT_TRUE(memory_.holds_requests());
  write_up_to(16 + 10 * 8);
  EXPECT_FALSE(write(0));
  EXPECT_EQ(memory_.used_bytes(), 10 * k_block_bytes);
}

TEST_F(overflow_outboxes, without_a_channel_blocks_are_taken_in_order_and_hold_nobody) {
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(write(own_, own_stream_, i));
  EXPECT_FALSE(memory_.holds_tasks());
  EXPECT_EQ(own_.mark(), 3U);
  std::vector<std::uint64_t> executed;
  while (overflow_outbox::block* const b = own_.take_block()) {
    executed.insert(executed.end(), b->data(), b->data() + b->words);
    if (executed.size() == 20) {
      ASSERT_TRUE(write(own_, own_stream_, 20));  // by what is executed
    }
    EXPECT_FALSE(own_.reached(own_.mark()));
    own_.end_block(b);
  }
  EXPECT_EQ(executed, up_to(21));
  EXPECT_TRUE(own_.reached(own_.mark()));
  EXPECT_EQ(memory_.used_bytes(), 0U);
}

}  // namespace
}  // namespace shoal::aggregate
