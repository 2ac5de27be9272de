// SPDX-License-Identifier: Apache-2.0
// When a worker sends its buffers, and what a wait for all nodes waits for, also without memory. The test is all other
// nodes. This program replaces the new[] that returns nullptr, with which a wait makes room for many nodes.
#include "remote/worker_port.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "base/rough_time.hpp"
#include "sched/worker.hpp"
#include "unit/remote/channels.hpp"

namespace {
thread_local bool t_refuses = false;
}  // namespace

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  if (t_refuses) return nullptr;
  try {
    return ::operator new[](bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace shoal::remote {
namespace {

constexpr std::uint32_t k_nodes = 11;

// Node 0 of k_nodes.
class many_nodes : public net::domain {
public:
  net::out_channel& out(unsigned n, net::traffic t) noexcept override {
    return t == net::traffic::request ? requests[n] : replies[n];
  }
  net::in_channel& in(unsigned, net::traffic) noexcept override { return nobody; }
  bool announced() const noexcept override { return false; }
  void take_announced(net::announced_to&) noexcept override {}
  lockfree::doorbell<>* bell() noexcept override { return nullptr; }
  bool bell_is_shared() const noexcept override { return false; }
  bool put(unsigned, std::uint64_t, const void*, std::size_t, std::atomic<bool>& done) noexcept override {
    copies.push_back(&done);
    return true;
  }
  bool get(unsigned, std::uint64_t, void*, std::size_t, std::atomic<bool>& done) noexcept override {
    copies.push_back(&done);
    return true;
  }

  std::vector<std::atomic<bool>*> copies;  // by the network, begun
  std::array<test_out, k_nodes> requests, replies;
  test_in nobody;
};

class worker_ports : public testing::Test {
protected:
  worker_ports() {
    context_.nodes = k_nodes;
    port_ = std::make_unique<worker_port>(domain_, server_, context_, false, overflow_);
  }
  void write(std::uint32_t node) { *detail::room_for(*port_, node, 1).cursor++ = 0; }
  void look_after_us(std::uint64_t us) { port_->send_awaited(now_ += us * 1000 * base::rough_time::k_per_ns); }
  std::size_t sent(std::uint32_t node) const { return domain_.requests[node].sent.size(); }
  void execute_all() {
    for (test_out& o : domain_.requests) o.taken = o.sent.size();
  }
  void poll() { port_->poll(pool_.at(0)); }

  sched::pool pool_{sched::pool_options()};
  detail::node_context context_;
  many_nodes domain_;
  server server_{domain_, k_nodes, nullptr, 0, false};
  aggregate::overflow_memory overflow_{1 << 20};
  std::unique_ptr<worker_port> port_;
  std::uint64_t now_ = 1'000'000'000;
};

struct counted final : settling {
  counted() noexcept {
    done = [](settling& s) noexcept { ++static_cast<counted&>(s).times; };
  }
  int times = 0;
};

class transport_of final : public net::transport {
public:
  class one_domain final : public many_nodes {
  public:
    bool one_sided() const noexcept override { return writes; }
    bool writes = false;
  };
  const char* name() const noexcept override { return "test"; }
  net::domain& at(unsigned) noexcept override { return domain; }
  one_domain domain;
};

TEST(node_ports_test, plain_modifications_are_for_memory_that_nothing_else_writes) {
  transport_of transport;
  node_ports::setup s;
  s.transport = &transport;
  s.segment_bytes = 1 << 20;
  s.by_network_bytes = 32 << 10;
  EXPECT_TRUE(node_ports::is_exclusive(s));
  transport.domain.writes = true;
  EXPECT_FALSE(node_ports::is_exclusive(s));
  s.by_network_bytes = s.segment_bytes + 1;  // no copy is as long
  EXPECT_TRUE(node_ports::is_exclusive(s));
  transport.domain.writes = false;
  s.by_network_bytes = 1;
  const node_ports::setup alone = s;
  EXPECT_TRUE(node_ports::is_exclusive(alone));
  s.workers = 2;
  EXPECT_FALSE(node_ports::is_exclusive(s));
  s = alone;
  s.request_threads = 1;
  EXPECT_FALSE(node_ports::is_exclusive(s));
  s = alone;
  s.mapped_elsewhere = true;
  EXPECT_FALSE(node_ports::is_exclusive(s));
}

TEST_F(worker_ports, copies_by_the_network_overlap_and_a_wait_for_all_waits_for_them) {
  std::array<char, 8> memory{};
  EXPECT_TRUE(detail::get_by_network(*port_, 1, 0, memory.data(), memory.size()));
  EXPECT_TRUE(detail::get_by_network(*port_, 2, 0, memory.data(), memory.size()));
  EXPECT_TRUE(detail::put_by_network(*port_, 3, 0, memory.data(), memory.size()));
  ASSERT_EQ(domain_.copies.size(), 3U);  // none was waited for
  EXPECT_TRUE(port_->in_flight());
  counted all;
  EXPECT_FALSE(all.begin(*port_));
  domain_.copies[1]->store(true);
  domain_.copies[2]->store(true);
  EXPECT_FALSE(port_->pending());
  poll();
  EXPECT_EQ(all.times, 0);
  domain_.copies[0]->store(true);
  EXPECT_TRUE(port_->pending());
  poll();
  EXPECT_EQ(all.times, 1);
  EXPECT_FALSE(port_->in_flight());
  counted none;
  EXPECT_TRUE(none.begin(*port_));
}

TEST_F(worker_ports, a_buffer_that_nobody_waits_for_stays_open) {
  write(1);
  for (int i = 0; i < 100; ++i) look_after_us(1000);
  EXPECT_EQ(sent(1), 0U);
}

TEST_F(worker_ports, a_buffer_that_a_task_waits_for_is_sent_when_nothing_is_added) {
  write(1);
  write(2);
  detail::await_buffer(*port_, 1);
  look_after_us(0);
  look_after_us(9);
  EXPECT_EQ(sent(1), 0U);
  look_after_us(1);
  EXPECT_EQ(sent(1), 1U);
  EXPECT_EQ(sent(2), 0U);
  EXPECT_FALSE(port_->peers[1].awaited);
}

TEST_F(worker_ports, a_buffer_that_a_task_waits_for_stays_open_while_an_earlier_one_is_in_flight) {
  write(1);
  port_->flush(aggregate::reason::asked);
  write(1);
  detail::await_buffer(*port_, 1);
  for (int us = 0; us < 150; us += 10) look_after_us(10);
  EXPECT_EQ(sent(1), 1U);
  execute_all();
  look_after_us(1);
  EXPECT_EQ(sent(1), 2U);
  write(1);
  detail::await_buffer(*port_, 1);
  for (int us = 0; us <= 200; us += 10) look_after_us(10);
  EXPECT_EQ(sent(1), 3U);  // no answer for as long as it may take
}

TEST_F(worker_ports, who_waited_for_a_buffer_that_was_sent_does_not_hurry_the_next_one) {
  write(1);
  detail::await_buffer(*port_, 1);
  look_after_us(0);
  port_->flush(aggregate::reason::asked);
  execute_all();
  write(1);
  for (int i = 0; i < 100; ++i) look_after_us(1000);
  EXPECT_EQ(sent(1), 1U);
  detail::await_buffer(*port_, 1);
  look_after_us(0);
  look_after_us(10);
  EXPECT_EQ(sent(1), 2U);
}

TEST_F(worker_ports, a_buffer_that_a_task_waits_for_is_sent_at_last_although_others_write) {
  write(1);
  detail::await_buffer(*port_, 1);
  int looks = 0;
  for (; looks < 1000 && sent(1) == 0; ++looks) {
    if (looks % 10 == 0) write(1);  // the buffer must not become full
    look_after_us(9 - 8 * (looks % 10 != 0));
  }
  EXPECT_EQ(sent(1), 1U);
  EXPECT_GT(looks, 10);
  EXPECT_LT(looks, 200);
}

TEST_F(worker_ports, a_wait_takes_the_marks_of_all_nodes_at_once) {
  for (std::uint32_t n = 1; n < k_nodes; ++n) write(n);
  counted all;
  EXPECT_FALSE(all.begin(*port_));
  look_after_us(0);
  look_after_us(10);
  for (std::uint32_t n = 1; n < k_nodes; ++n) EXPECT_EQ(sent(n), 1U) << n;
  for (std::uint32_t n = 1; n < k_nodes; ++n) write(n);  // by another task, after the wait began
  poll();
  EXPECT_EQ(all.times, 0);
  domain_.requests[k_nodes - 1].taken = 1;
  poll();
  EXPECT_EQ(all.times, 0);
  execute_all();
  poll();
  EXPECT_EQ(all.times, 1);
  poll();
  EXPECT_EQ(all.times, 1);
}

// In sets of four: those of the first four, of the next four, of the last two. A mark that is taken later is one of more.
TEST_F(worker_ports, without_memory_for_all_marks_a_wait_takes_those_of_a_few_nodes_at_a_time) {
  for (std::uint32_t n = 1; n < k_nodes; ++n) write(n);
  counted all;
  t_refuses = true;
  EXPECT_FALSE(all.begin(*port_));
  t_refuses = false;
  port_->flush(aggregate::reason::asked);
  write(1);  // by another task
  write(k_nodes - 1);
  port_->flush(aggregate::reason::asked);
  for (std::uint32_t n = 1; n < k_nodes; ++n) {
    poll();
    EXPECT_EQ(all.times, 0) << n;
    domain_.requests[n].taken = 1;
  }
  poll();
  poll();
  EXPECT_EQ(all.times, 0);
  domain_.requests[k_nodes - 1].taken = 2;
  poll();
  EXPECT_EQ(all.times, 1);
  poll();
  EXPECT_EQ(all.times, 1);
}

TEST_F(worker_ports, without_memory_nodes_that_execute_in_any_order_end_a_wait) {
  for (std::uint32_t first = 1; first < k_nodes; ++first) {
    for (std::uint32_t n = 1; n < k_nodes; ++n) write(n);
    counted all;
    t_refuses = true;
    EXPECT_FALSE(all.begin(*port_));
    t_refuses = false;
    port_->flush(aggregate::reason::asked);
    for (std::uint32_t i = 0; i < k_nodes - 1; ++i) {
      EXPECT_EQ(all.times, 0);
      test_out& o = domain_.requests[1 + (first + 2 * i + i / 5) % (k_nodes - 1)];
      o.taken = o.sent.size();
      poll();
    }
    poll();
    EXPECT_EQ(all.times, 1);
  }
}

TEST(node_ports_test, a_fence_waits_for_all_nodes_also_without_memory) {
  for (const bool refuses : {false, true}) {
    transport_of transport;
    std::vector<std::byte*> bases(k_nodes, nullptr);
    detail::node_context context;
    context.nodes = k_nodes;
    context.bases = bases.data();
    node_ports::setup s;
    s.transport = &transport;
    s.context = &context;
    sched::pool pool{sched::pool_options()};
    node_ports ports(s);
    ports.attach(pool.at(0));
    struct counted_fence final : sched::fence_request {
      int times = 0;
    } fence;
    fence.done = [](sched::fence_request& r) noexcept { ++static_cast<counted_fence&>(r).times; };
    EXPECT_TRUE(ports.fence(pool.at(0), fence));
    for (std::uint32_t n = 1; n < k_nodes; ++n) *detail::room_for(ports.at(0), n, 1).cursor++ = 0;
    t_refuses = refuses;
    EXPECT_FALSE(ports.fence(pool.at(0), fence));
    t_refuses = false;
    ports.at(0).flush(aggregate::reason::asked);
    for (std::uint32_t n = 1; n < k_nodes; ++n) {
      ports.poll(pool.at(0));
      EXPECT_EQ(fence.times, 0);
      transport.domain.requests[n].taken = 1;
    }
    ports.poll(pool.at(0));
    EXPECT_EQ(fence.times, 1);
    ports.poll(pool.at(0));
    EXPECT_EQ(fence.times, 1);
  }
}

TEST_F(worker_ports, nodes_are_visited_while_something_is_open_or_in_flight) {
  EXPECT_TRUE(port_->active().empty());
  EXPECT_EQ(port_->resident_bytes_of_peers(), 0U);
  poll();
  EXPECT_FALSE(port_->unsettled(3));
  EXPECT_EQ(port_->resident_bytes_of_peers(), 0U);
  write(3);
  EXPECT_EQ(port_->active().size(), 1U);
  poll();
  EXPECT_EQ(port_->active().size(), 1U);  // its buffer is open
  port_->flush(aggregate::reason::asked);
  poll();
  EXPECT_EQ(port_->active().size(), 1U);  // it is not executed
  EXPECT_TRUE(port_->in_flight());
  execute_all();
  EXPECT_FALSE(port_->in_flight());
  poll();
  EXPECT_TRUE(port_->active().empty());
  for (std::uint32_t n = 1; n < k_nodes; ++n) write(n);
  EXPECT_EQ(port_->active().size(), k_nodes - 1U);
  port_->flush(aggregate::reason::asked);
  domain_.requests[3].taken = 2;
  poll();
  EXPECT_EQ(port_->active().size(), k_nodes - 2U);
  write(3);  // while the others are in flight
  counted all;
  EXPECT_FALSE(all.begin(*port_));
  port_->flush(aggregate::reason::asked);
  execute_all();
  poll();
  poll();
  EXPECT_EQ(all.times, 1);
  EXPECT_TRUE(port_->active().empty());
  EXPECT_EQ(sent(3), 3U);
}

// The buffer for which a task has found no room is the only one to a node that had nothing in flight before.
TEST_F(worker_ports, who_waits_for_room_is_woken_for_a_node_that_was_not_visited) {
  domain_.requests[5].bound = 0;
  EXPECT_FALSE(detail::try_make_room(*port_, 5, 1));
  poll();
  EXPECT_TRUE(port_->active().empty());
  static int fired = 0;
  fired = 0;
  stream_waiter waiter;
  waiter.fire = [](stream_waiter&) noexcept { ++fired; };
  port_->when_room(5, waiter);
  poll();
  EXPECT_EQ(fired, 0);
  domain_.requests[5].bound = 1;
  EXPECT_TRUE(port_->pending());
  poll();
  EXPECT_EQ(fired, 1);
  EXPECT_TRUE(detail::try_make_room(*port_, 5, 1));
  EXPECT_EQ(port_->active().size(), 1U);
}

TEST_F(worker_ports, who_sleeps_wakes_a_deputy_where_requests_are_not_executed) {
  EXPECT_LT(port_->longest_sleep_ns(), 0);
  write(2);
  port_->flush(aggregate::reason::idle);
  test_out& out = domain_.requests[2];
  EXPECT_LT(port_->longest_sleep_ns(), 0);  // no worker there but the busy one
  out.deputies = net::deputy::woken;        // it may come when the receiver is about to stop serving
  const std::int64_t first_ns = port_->longest_sleep_ns();
  EXPECT_EQ(out.deputies_asked, 2);
  out.deputies = net::deputy::none_sleeps;  // the others are awake: they may fall asleep without having looked
  EXPECT_GT(first_ns, 0);
  EXPECT_GT(port_->longest_sleep_ns(), first_ns);
  execute_all();
  EXPECT_LT(port_->longest_sleep_ns(), 0);
  EXPECT_EQ(domain_.requests[1].deputies_asked, 0);
}

TEST_F(worker_ports, who_works_wakes_a_deputy_where_nothing_is_executed) {
  look_after_us(1000);
  write(2);
  port_->flush(aggregate::reason::asked);
  test_out& out = domain_.requests[2];
  look_after_us(100);
  look_after_us(100);
  EXPECT_GT(out.deputies_asked, 0);
  const int asked = out.deputies_asked;
  for (int i = 0; i < 10; ++i) {  // it executes, however slowly
    write(2);
    port_->flush(aggregate::reason::asked);
    ++out.taken;
    look_after_us(100);
  }
  EXPECT_EQ(out.deputies_asked, asked);
}

TEST_F(worker_ports, a_wait_for_nothing_is_over_at_once) {
  settling all;
  EXPECT_TRUE(all.begin(*port_));
  write(3);
  port_->flush(aggregate::reason::asked);
  execute_all();
  EXPECT_TRUE(all.begin(*port_));
}

}  // namespace
}  // namespace shoal::remote
