// SPDX-License-Identifier: Apache-2.0
// What handlers send never waits; tasks wait while it is in memory. The test is the other node.
#include "remote/handler_port.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/rough_time.hpp"
#include "remote/worker_port.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/task.hpp"
#include "unit/remote/channels.hpp"

namespace shoal::remote {
namespace {

class handler_ports : public testing::Test {
protected:
  handler_ports() {
    context_.nodes = 2;
    context_.bases = bases_.data();
    port_ = std::make_unique<worker_port>(domain_, server_, context_, false, overflow_);
  }
  // In a task.
  void as_task(const std::function<void()>& body) {
    pool_.run([&] {
      sched::worker& w = *sched::this_worker();
      w.port = detail::t_port = port_.get();
      body();
      w.port = detail::t_port = nullptr;
    });
  }
  void as_handler(const std::function<void()>& body) {
    const detail::handler_scope scope(*detail::t_worker, "i");
    body();
  }
  static void write(std::uint32_t node) { *detail::room_for(*detail::t_port, node, 1).cursor++ = 7; }
  void poll() { port_->poll(pool_.at(0)); }

  sched::pool pool_{sched::pool_options()};
  std::array<std::byte*, 2> bases_{};
  detail::node_context context_;
  test_domain domain_;
  aggregate::overflow_memory overflow_{1 << 20};
  server server_{domain_, 2, nullptr, 0, false, &overflow_};
  std::unique_ptr<worker_port> port_;
};

TEST_F(handler_ports, have_streams_of_their_own) {
  as_task([this] {
    write(1);
    as_handler([] { write(1); });
    write(1);
    EXPECT_EQ(detail::t_port, port_.get());
    port_->flush(aggregate::reason::asked);
  });
  EXPECT_EQ(domain_.requests_out.all(), (words{7, 7}));
  EXPECT_EQ(domain_.handler_requests_out.all(), (words{7}));
}

TEST_F(handler_ports, hold_tasks_while_commands_are_in_memory) {
  as_task([this] {
    domain_.handler_requests_out.bound = 2;
    write(1);  // into an open buffer
    as_handler([] {
      for (int i = 0; i < 200; ++i) write(1);
    });
    EXPECT_TRUE(overflow_.holds_tasks());
    poll();
    EXPECT_EQ(domain_.requests_out.sent.size(), 1U);  // the open one has left
    EXPECT_EQ(port_->peers[1].requests.cursor, nullptr);
    std::atomic<bool> written{false};
    shoal::task_group group;
    group.run([&] {
      sched::this_worker()->port = detail::t_port = port_.get();
      write(1);
      written = true;
    });
    for (int i = 0; i < 100; ++i) shoal::yield();
    EXPECT_FALSE(written.load());
    domain_.handler_requests_out.bound = 1000;
    for (int i = 0; i < 10 && !written; ++i) {
      poll();
      shoal::yield();
    }
    EXPECT_TRUE(written.load());
    EXPECT_EQ(domain_.handler_requests_out.all().size(), 200U);
    EXPECT_EQ(overflow_.used_bytes(), 0U);
    group.wait();
  });
}

TEST_F(handler_ports, send_what_is_open_when_nothing_is_added) {
  as_task([this] {
    as_handler([] { write(1); });
    std::uint64_t now = 1'000'000'000;
    port_->send_awaited(now);
    EXPECT_EQ(domain_.handler_requests_out.sent.size(), 0U);
    port_->send_awaited(now += 10'000 * base::rough_time::k_per_ns);
    EXPECT_EQ(domain_.handler_requests_out.sent.size(), 1U);
  });
}

TEST_F(handler_ports, are_settled_when_all_is_executed_and_answered) {
  as_task([this] {
    std::uint64_t target = 0;
    as_handler([&] {
      write(1);
      detail::t_port->peers[1].replies.reserve(1);
      detail::t_port->peers[1].replies.expect(detail::reply_kind::value_8, &target);
    });
    struct counted final : settling {
      int times = 0;
    } all;
    all.done = [](settling& s) noexcept { ++static_cast<counted&>(s).times; };
    settling tasks_only;
    EXPECT_TRUE(tasks_only.begin(*port_));
    EXPECT_FALSE(all.begin(*port_, true));
    EXPECT_EQ(domain_.handler_requests_out.sent.size(), 1U);
    domain_.handler_requests_out.taken = 1;
    poll();
    EXPECT_EQ(all.times, 0);
    domain_.handler_replies_in.arrived = {{42}};
    poll();
    EXPECT_EQ(all.times, 1);
    EXPECT_EQ(target, 42U);
  });
}

int of_tasks, of_handlers;
void count_task(const detail::arrival&) noexcept { ++of_tasks; }
void count_handler(const detail::arrival&) noexcept { ++of_handlers; }

TEST_F(handler_ports, requests_of_handlers_are_executed_while_those_of_tasks_are_held) {
  of_tasks = of_handlers = 0;
  const auto call = [](detail::receiver r) {
    return words{detail::header(static_cast<std::uint8_t>(detail::other_operation::call), 0, detail::code_of(r))};
  };
  domain_.requests_in.arrived = {call(detail::receiver_of<count_task>())};
  domain_.handler_requests_in.arrived = {call(detail::receiver_of<count_handler>())};
  ASSERT_TRUE(overflow_.take(aggregate::overflow_memory::use::commands, 1 << 20));
  as_task([this] { poll(); });
  EXPECT_EQ(of_tasks, 0);
  EXPECT_EQ(of_handlers, 1);
  overflow_.give_back(aggregate::overflow_memory::use::commands, 1 << 20);
  as_task([this] { poll(); });
  EXPECT_EQ(of_tasks, 1);
}

}  // namespace
}  // namespace shoal::remote
