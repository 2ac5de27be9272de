// SPDX-License-Identifier: Apache-2.0
#include "remote/server.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "remote/code.hpp"
#include "unit/remote/channels.hpp"

namespace shoal::remote {
namespace {

using namespace shoal::detail;

class servers : public testing::Test {
protected:
  static std::uint64_t op(verb v, std::uint64_t small, std::uint64_t index) {
    return header(operation(v, element::u64), small, index * 8);
  }
  bool serve(bool by_worker = true) {
    EXPECT_TRUE(server_.try_hold());
    const bool any = server_.serve(by_worker ? &worker_ : nullptr);
    server_.let_go();
    return any;
  }

  struct face : worker_base {};
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(64);
  test_domain domain_;
  server server_{domain_, 2, reinterpret_cast<std::byte*>(memory_.data()), 64 * 8, false};
  face worker_;
};

TEST_F(servers, one_at_a_time_holds_it) {
  EXPECT_TRUE(server_.try_hold());
  EXPECT_FALSE(server_.try_hold());
  server_.let_go();
  EXPECT_TRUE(server_.try_hold());
  server_.let_go();
}

TEST_F(servers, executes_what_has_arrived_in_order_replies_and_releases) {
  EXPECT_FALSE(serve());
  domain_.requests_in.arrived = {{op(verb::add, 3, 0), op(verb::get, 0, 0)},
                                 {op(verb::put, 9, 0), op(verb::get, 0, 0)}};
  EXPECT_TRUE(serve());
  EXPECT_EQ(domain_.requests_in.released, 2U);
  EXPECT_EQ(domain_.replies_out.all(), (words{3, 9}));
  EXPECT_EQ(server_.counts().buffers, 2U);
  EXPECT_EQ(server_.counts().commands, 4U);
  EXPECT_EQ(server_.counts().stalls, 0U);
  EXPECT_FALSE(serve());
}

TEST_F(servers, a_node_that_sends_without_end_gets_a_share_of_each_turn) {
  for (int i = 0; i < 2 * server::k_most_buffers + 1; ++i) domain_.requests_in.arrived.push_back({op(verb::add, 1, 0)});
  for (int turn = 1; turn <= 2; ++turn) {
    EXPECT_TRUE(serve());
    EXPECT_EQ(memory_[0], static_cast<std::uint64_t>(turn * server::k_most_buffers));
    EXPECT_TRUE(server_.pending());
  }
  EXPECT_TRUE(serve());
  EXPECT_FALSE(server_.pending());
  EXPECT_EQ(memory_[0], 2U * server::k_most_buffers + 1);
}

TEST_F(servers, without_room_for_replies_stops_within_a_buffer_and_goes_on_where_it_stopped) {
  words buffer;
  for (int i = 0; i < 50; ++i) buffer.push_back(op(verb::fetch_add, 1, 0));
  domain_.requests_in.arrived = {buffer};
  domain_.replies_out.bound = 1;
  EXPECT_TRUE(serve());
  EXPECT_EQ(memory_[0], test_out::k_words);
  EXPECT_EQ(domain_.requests_in.released, 0U);  // no acknowledgement before all is executed
  EXPECT_EQ(server_.counts().stalls, 1U);
  EXPECT_FALSE(serve());
  domain_.replies_out.taken = 1;
  EXPECT_TRUE(serve());
  EXPECT_EQ(domain_.requests_in.released, 1U);
  EXPECT_EQ(memory_[0], 50U);
  const words got = domain_.replies_out.all();
  ASSERT_EQ(got.size(), 50U);
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(got[i], i);
  EXPECT_EQ(server_.counts().commands, 50U);
}

TEST_F(servers, a_command_that_no_node_sends_ends_the_program_and_names_the_node) {
  domain_.requests_in.arrived = {{header(255, 0, 0)}};
  EXPECT_DEATH(serve(), "node 1 has sent a command that no node sends .operation 255");
  domain_.requests_in.arrived = {{op(verb::add, 1, 1 << 20)}};
  EXPECT_DEATH(serve(), "node 1 has sent a command that no node sends");
}

// Not at a node that has sent nothing yet, and no more at one that has sent nothing for long.
TEST_F(servers, looks_at_nodes_that_send) {
  EXPECT_EQ(server_.watched(), 0U);
  EXPECT_FALSE(serve());
  domain_.requests_in.arrived = {{op(verb::add, 3, 0)}};
  EXPECT_TRUE(server_.pending());
  EXPECT_EQ(server_.watched(), 0U);
  EXPECT_TRUE(serve());
  EXPECT_EQ(server_.watched(), 1U);
  EXPECT_TRUE(domain_.requests_in.watched);
  EXPECT_FALSE(domain_.handler_requests_in.watched);
  domain_.handler_requests_in.arrived = {{op(verb::add, 3, 0)}};
  EXPECT_TRUE(serve());
  EXPECT_EQ(server_.watched(), 2U);
  for (std::uint32_t i = 0; i + 1 < server::k_most_looks; ++i) EXPECT_FALSE(serve());
  EXPECT_EQ(server_.watched(), 1U);
  EXPECT_FALSE(domain_.requests_in.watched);
  EXPECT_TRUE(domain_.handler_requests_in.watched);
  EXPECT_FALSE(serve());
  EXPECT_EQ(server_.watched(), 0U);
  EXPECT_FALSE(server_.pending());
  domain_.requests_in.arrived = {{op(verb::add, 3, 0), op(verb::get, 0, 0)}};
  EXPECT_TRUE(server_.pending());
  EXPECT_TRUE(serve());
  EXPECT_EQ(domain_.replies_out.all(), (words{9}));
  EXPECT_EQ(server_.watched(), 1U);
}

// What is not executed for want of room is looked at however long that takes.
TEST_F(servers, looks_at_a_node_whose_replies_have_no_room) {
  domain_.requests_in.arrived = {{op(verb::get, 0, 0)}};
  domain_.replies_out.bound = 0;
  for (std::uint32_t i = 0; i < 3 * server::k_most_looks; ++i) EXPECT_FALSE(serve());
  EXPECT_EQ(server_.watched(), 1U);
  EXPECT_TRUE(server_.pending());
  domain_.replies_out.bound = 1;
  EXPECT_TRUE(serve());
  EXPECT_FALSE(server_.pending());
}

int g_called = 0;
void receive(const arrival& a) noexcept { g_called += static_cast<int>(a.payload[0]); }

TEST_F(servers, who_is_no_worker_executes_all_but_calls) {
  g_called = 0;
  domain_.requests_in.arrived = {
      {op(verb::add, 3, 0),
       header(static_cast<std::uint8_t>(other_operation::call), 1, encode_body(detail::receiver_of<receive>())), 5,
       op(verb::add, 4, 0)}};
  EXPECT_TRUE(serve(false));
  EXPECT_EQ(memory_[0], 3U);
  EXPECT_FALSE(serve(false));
  EXPECT_EQ(domain_.requests_in.released, 0U);
  EXPECT_EQ(g_called, 0);
  EXPECT_TRUE(serve(true));
  EXPECT_EQ(g_called, 5);
  EXPECT_EQ(memory_[0], 7U);
  EXPECT_EQ(domain_.requests_in.released, 1U);
}

}  // namespace
}  // namespace shoal::remote
