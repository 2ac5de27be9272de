// SPDX-License-Identifier: Apache-2.0
// Messages of traces made by hand, and what they say about clocks.
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/timeline_output.hpp"
#include "unit/trace/made_trace.hpp"

namespace shoal::trace {
namespace {

TEST(timeline, replies_do_not_meet_requests) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.workers[0] = {at(1000, event_kind::send, message_value(64, 0), 1),
                  at(1300, event_kind::reply_receive, message_value(16, 0), 1, 0)};
  b.workers[0] = {at(1100, event_kind::receive, message_value(64, 0), 0, 0),
                  at(1150, event_kind::reply_send, message_value(16, 0), 0, 0),
                  at(1400, event_kind::send, message_value(8, 0), 0)};  // its receive is lost
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 2U);
  EXPECT_FALSE(t.messages[0].is_reply);
  EXPECT_EQ(t.messages[0].bytes, 64U);
  EXPECT_TRUE(t.messages[1].is_reply);
  EXPECT_EQ(t.messages[1].bytes, 16U);
  EXPECT_EQ(t.messages[1].received_ns - t.messages[1].sent_ns, 150U);
  EXPECT_EQ(t.unmatched_messages, 1U);
}

TEST(timeline, mail_is_joined_by_its_place_in_the_ring) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.workers[0] = {at(1000, event_kind::mail_send, message_value(64, 40), 1),
                  at(2000, event_kind::mail_send, message_value(72, 41), 1)};
  b.workers[0] = {at(1100, event_kind::mail_receive, message_value(64, 40), 0),
                  at(1200, event_kind::mail_receive, message_value(64, 7), 0)};  // its sender's event is lost
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 1U);
  EXPECT_EQ(t.messages[0].from, 0U);
  EXPECT_EQ(t.messages[0].to, 1U);
  EXPECT_EQ(t.messages[0].received_ns - t.messages[0].sent_ns, 100U);
  EXPECT_EQ(t.unmatched_messages, 2U);
}

TEST(timeline, messages_join_both_ends) {
  const auto [a, b] = talking("a", 1000, 0);
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 3U);
  EXPECT_EQ(t.unmatched_messages, 1U);
  EXPECT_EQ(t.messages[0].received_ns - t.messages[0].sent_ns, 100U);
  EXPECT_EQ(message_matrix(t), (std::vector<std::uint64_t>{0, 128, 32, 0}));
}

// The other machine's clock is late by 50 us, which its messages tell.
TEST(timeline, clocks_of_machines_are_aligned_by_messages) {
  const auto [a, b] = talking("b", 777'000'000, 50'000);
  const timeline t = make_timeline({a, b});
  EXPECT_NEAR(t.clock_shift_ns[1], -50'000, 1);
  for (const message& m : t.messages) EXPECT_NEAR(static_cast<double>(m.received_ns - m.sent_ns), 100, 2);
}

}  // namespace
}  // namespace shoal::trace
