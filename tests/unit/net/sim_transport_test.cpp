// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/sim_transport.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::net {
namespace {

constexpr std::uint64_t k_wire_ns = 1000;

sim_world_shape flat_world(unsigned nodes, std::size_t slots = 4) {
  sim_world_shape s;
  s.nodes = nodes;
  s.slot_bytes = 1024;
  s.slots = slots;
  s.network.latency_ps = 1000 * k_wire_ns;
  s.network.byte_ps = 0;
  return s;
}

sim_clock_options no_lookahead() {
  sim_clock_options o;
  o.lookahead_ps = 0;
  return o;
}

void post_one(domain& d, unsigned to, std::uint64_t value) {
  out_channel& out = d.out(to, traffic::request);
  std::uint64_t* const buffer = out.acquire();
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(out.acquire(), buffer);
  buffer[0] = value;
  out.post(1);
}

TEST(sim_transport, a_buffer_is_seen_from_its_arrival_on) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(2), by);
  const auto a = world.connect(0), b = world.connect(1);
  post_one(a->at(0), 1, 42);
  in_channel& in = b->at(0).in(0, traffic::request);
  EXPECT_TRUE(in.front().empty());
  EXPECT_FALSE(b->at(0).pending());
  by.delay_ps(999 * k_wire_ns);
  EXPECT_TRUE(in.front().empty());
  by.delay_ps(1 * k_wire_ns);
  EXPECT_TRUE(b->at(0).pending());
  ASSERT_EQ(in.front().size(), 1U);
  EXPECT_EQ(in.front()[0], 42U);
  in.release();
  EXPECT_TRUE(in.front().empty());
  EXPECT_FALSE(b->at(0).pending());
  EXPECT_EQ(world.total().messages, 1U);
}

TEST(sim_transport, arrivals_are_announced_unless_they_are_watched_for) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(3), by);
  const auto a = world.connect(0), b = world.connect(1), c = world.connect(2);
  struct noted final : announced_to {
    std::vector<std::uint32_t> nodes;
    void announced(std::uint32_t node, traffic t) noexcept override {
      EXPECT_EQ(t, traffic::request);
      nodes.push_back(node);
    }
  } told;
  domain& d = c->at(0);
  in_channel& in = d.in(0, traffic::request);
  in.watch();
  post_one(a->at(0), 2, 1);
  post_one(b->at(0), 2, 2);
  EXPECT_FALSE(d.announced());
  by.delay_ps(2000 * k_wire_ns);
  EXPECT_TRUE(d.announced());
  d.take_announced(told);
  EXPECT_EQ(told.nodes, std::vector<std::uint32_t>{1});
  EXPECT_FALSE(d.announced());
  EXPECT_FALSE(in.unwatch());  // something is there
  in.release();
  EXPECT_TRUE(in.unwatch());
  post_one(a->at(0), 2, 3);
  EXPECT_FALSE(d.announced());
  by.delay_ps(2000 * k_wire_ns);
  d.take_announced(told);
  EXPECT_EQ(told.nodes, (std::vector<std::uint32_t>{1, 0}));
}

TEST(sim_transport, the_sender_hears_of_a_release_after_the_way_back) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(2), by);
  const auto a = world.connect(0), b = world.connect(1);
  out_channel& out = a->at(0).out(1, traffic::request);
  post_one(a->at(0), 1, 1);
  EXPECT_EQ(a->outstanding(1), "1 buffer of requests to it not executed");
  by.delay_ps(2000 * k_wire_ns);
  b->at(0).in(0, traffic::request).release();
  EXPECT_EQ(out.posted(), 1U);
  EXPECT_EQ(out.done(), 0U);
  by.delay_ps(999 * k_wire_ns);
  EXPECT_EQ(out.done(), 0U);
  by.delay_ps(1 * k_wire_ns);
  EXPECT_EQ(out.done(), 1U);
  EXPECT_EQ(a->outstanding(1), "no requests to it outstanding");
}

TEST(sim_transport, so_many_buffers_are_in_flight_and_no_more) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(2, 2), by);
  const auto a = world.connect(0), b = world.connect(1);
  out_channel& out = a->at(0).out(1, traffic::request);
  post_one(a->at(0), 1, 1);
  post_one(a->at(0), 1, 2);
  EXPECT_EQ(out.acquire(), nullptr);
  EXPECT_NE(a->at(0).out(1, traffic::reply).acquire(), nullptr);  // classes do not wait for each other
  by.delay_ps(5000 * k_wire_ns);
  b->at(0).in(0, traffic::request).release();
  EXPECT_EQ(out.acquire(), nullptr);
  by.delay_ps(1000 * k_wire_ns);
  EXPECT_NE(out.acquire(), nullptr);
}

TEST(sim_transport, arrivals_keep_their_order_whatever_the_jitter) {
  sim_executor by(no_lookahead());
  sim_world_shape shape = flat_world(2, 64);
  shape.network.jitter = 10;
  sim_world world(shape, by);
  const auto a = world.connect(0), b = world.connect(1);
  for (std::uint64_t i = 0; i < 50; ++i) post_one(a->at(0), 1, i);
  by.delay_ps(1'000'000 * k_wire_ns);
  in_channel& in = b->at(0).in(0, traffic::request);
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_FALSE(in.front().empty());
    EXPECT_EQ(in.front()[0], i);
    in.release();
  }
}

TEST(sim_transport, a_sleeper_is_woken_by_an_arrival_and_by_an_acknowledgement) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(2, 1), by);
  const auto a = world.connect(0), b = world.connect(1);
  const auto sleep = [&by](domain& d) {
    d.bell()->prepare();
    if (d.pending() || d.in(1, traffic::request).seems_available()) return d.bell()->cancel();
    while (d.bell()->may_sleep()) by.wait(d.bell()->word(), lockfree::doorbell<>::k_announced, -1, false);
  };
  std::vector<std::uint64_t> got;
  auto receiver = by.start_thread("receiver", [&] {
    in_channel& in = b->at(0).in(0, traffic::request);
    while (got.size() < 20) {
      while (in.front().empty()) sleep(b->at(0));
      got.push_back(in.front()[0]);
      in.release();
    }
  });
  auto sender = by.start_thread("sender", [&] {
    for (std::uint64_t i = 0; i < 20; ++i) {
      while (a->at(0).out(1, traffic::request).acquire() == nullptr) sleep(a->at(0));
      post_one(a->at(0), 1, i);
    }
  });
  receiver->join();
  sender->join();
  ASSERT_EQ(got.size(), 20U);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(got[i], i);
  EXPECT_GE(by.now_ps(), 39 * 1000 * k_wire_ns);  // a way there and back for each but the last
  EXPECT_LE(by.now_ps(), 120 * 1000 * k_wire_ns);
}

TEST(sim_transport, gives_way_to_who_posts_earlier) {
  sim_executor by(no_lookahead());
  sim_world world(flat_world(3), by);
  const auto a = world.connect(0), b = world.connect(1), c = world.connect(2);
  std::vector<std::uint64_t> order;
  auto receiver = by.start_thread("receiver", [&] {
    while (order.size() < 2) {
      by.delay_ps(100 * k_wire_ns);
      c->at(0).progress();
      for (unsigned from = 0; from < 2; ++from) {
        in_channel& in = c->at(0).in(from, traffic::request);
        if (in.front().empty()) continue;
        order.push_back(in.front()[0]);
        in.release();
      }
    }
  });
  auto late = by.start_thread("late", [&] {
    by.delay_ps(5000 * k_wire_ns);
    post_one(a->at(0), 2, 1);
  });
  auto early = by.start_thread("early", [&] {
    by.delay_ps(3000 * k_wire_ns);
    post_one(b->at(0), 2, 2);
  });
  receiver->join();
  late->join();
  early->join();
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 1}));
}

}  // namespace
}  // namespace shoal::net
