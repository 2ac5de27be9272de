// SPDX-License-Identifier: Apache-2.0
#include "net/message_transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "machine/futex.hpp"
#include "unit/net/loop_network.hpp"

namespace shoal::net {
namespace {

class two_nodes {
public:
  explicit two_nodes(const message_shape& s = {}, bool tells = false) : shape(s), world(2, s.domains, tells) {
    for (shape.node = 0; shape.node < 2; ++shape.node)
      nodes.push_back(std::make_unique<message_transport>(
          "memory", std::make_unique<loop_network>(world, shape.node, shape.domains), shape,
          [this](std::uint32_t node, const char*) { lost.push_back(node); }));
  }
  domain& at(unsigned node, unsigned worker = 0) { return nodes[node]->at(worker); }
  out_channel& out(unsigned from, traffic t = traffic::request, unsigned worker = 0) {
    return at(from, worker).out(1 - from, t);
  }
  in_channel& in(unsigned to, traffic t = traffic::request, unsigned worker = 0) {
    return at(to, worker).in(1 - to, t);
  }
  // Everything that moves by itself.
  void settle() {
    for (int i = 0; i < 20; ++i)
      for (unsigned n = 0; n < 2; ++n)
        for (unsigned w = 0; w < shape.workers; ++w) at(n, w).progress();
  }
  loop_wire& wire(unsigned node, unsigned domain = 0) {
    return static_cast<loop_wire&>(nodes[node]->underneath().at(domain));
  }

  message_shape shape;
  loop_world world;
  std::vector<std::unique_ptr<message_transport>> nodes;
  std::vector<std::uint32_t> lost;
};

message_shape shape_of(unsigned workers, unsigned domains) {
  message_shape s;
  s.nodes = 2;
  s.workers = workers;
  s.domains = domains;
  s.slot_bytes = 1024;
  s.slots = 4;
  return s;
}

void post(out_channel& out, std::uint64_t first, std::size_t words) {
  std::uint64_t* buffer = out.acquire();
  ASSERT_NE(buffer, nullptr);
  for (std::size_t i = 0; i < words; ++i) buffer[i] = first + i;
  out.post(words);
}

TEST(message_transport, buffers_arrive_whole_and_in_order) {
  two_nodes job(shape_of(1, 1));
  EXPECT_EQ(job.out(0).capacity_words(), 1024 / 8 - k_label_words);
  post(job.out(0), 100, 3);
  post(job.out(0), 200, job.out(0).capacity_words());
  EXPECT_TRUE(job.in(1).front().empty());
  job.settle();
  ASSERT_EQ(job.in(1).front().size(), 3U);
  EXPECT_EQ(job.in(1).front()[2], 102U);
  job.in(1).release();
  ASSERT_EQ(job.in(1).front().size(), job.out(0).capacity_words());
  EXPECT_EQ(job.in(1).front().back(), 200 + job.out(0).capacity_words() - 1);
}

TEST(message_transport, room_comes_back_when_the_receiver_has_executed) {
  two_nodes job(shape_of(1, 1));
  for (std::uint64_t i = 0; i < 4; ++i) post(job.out(0), i, 1);
  EXPECT_EQ(job.out(0).acquire(), nullptr);
  job.settle();
  EXPECT_EQ(job.out(0).acquire(), nullptr);  // arrived is not executed
  EXPECT_EQ(job.out(0).done(), 0U);
  EXPECT_EQ(job.wire(1).kept(), 4U);
  EXPECT_NE(job.nodes[0]->outstanding(1).find("4 buffers"), std::string::npos);
  job.in(1).front();
  job.in(1).release();
  job.settle();
  EXPECT_EQ(job.out(0).done(), 1U);
  EXPECT_EQ(job.wire(1).kept(), 3U);
  EXPECT_NE(job.out(0).acquire(), nullptr);
}

TEST(message_transport, a_message_that_goes_back_brings_the_acknowledgement) {
  two_nodes job(shape_of(1, 1));
  post(job.out(0), 7, 1);
  job.settle();
  job.in(1).front();
  job.in(1).release();
  post(job.out(1, traffic::reply), 8, 1);
  job.at(1).progress();  // sends both; nothing is owed by then
  EXPECT_TRUE(job.wire(1).all_sent());
  job.at(0).progress();
  EXPECT_EQ(job.out(0).done(), 1U);
  EXPECT_EQ(job.in(0, traffic::reply).front()[0], 8U);
}

TEST(message_transport, replies_are_acknowledged_by_halves_of_the_room) {
  two_nodes job(shape_of(1, 1));
  for (std::uint64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(job.out(1, traffic::reply).done(), 0U);
    post(job.out(1, traffic::reply), i, 1);
    job.settle();
    job.in(0, traffic::reply).front();
    job.in(0, traffic::reply).release();
    job.settle();
  }
  EXPECT_EQ(job.out(1, traffic::reply).done(), 2U);
}

TEST(message_transport, classes_have_room_of_their_own) {
  two_nodes job(shape_of(1, 1));
  for (std::uint64_t i = 0; i < 4; ++i) post(job.out(0), i, 1);
  for (std::uint64_t i = 0; i < 4; ++i) post(job.out(0, traffic::reply), 10 + i, 1);
  job.settle();
  EXPECT_EQ(job.in(1, traffic::reply).front()[0], 10U);
  EXPECT_EQ(job.in(1).front()[0], 0U);
}

// As a server: the number of channels that a domain has announced.
std::size_t watch_announced(domain& d) {
  struct watcher final : announced_to {
    explicit watcher(domain& of) : its(of) {}
    void announced(std::uint32_t node, traffic t) noexcept override {
      its.in(node, t).watch();
      ++count;
    }
    domain& its;
    std::size_t count = 0;
  } all(d);
  d.take_announced(all);
  return all.count;
}

class lanes : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(workers_and_domains, lanes,
                         testing::Values(std::pair(3U, 1U), std::pair(3U, 2U), std::pair(3U, 3U)));

TEST_P(lanes, each_worker_has_channels_of_its_own) {
  two_nodes job(shape_of(GetParam().first, GetParam().second));
  for (unsigned w = 0; w < 3; ++w) post(job.out(0, traffic::request, w), 1000 * w, w + 1);
  job.settle();
  for (unsigned w = 0; w < 3; ++w) {
    ASSERT_EQ(job.in(1, traffic::request, w).front().size(), w + 1);
    EXPECT_EQ(job.in(1, traffic::request, w).front()[0], 1000 * w);
    EXPECT_TRUE(job.at(1, w).pending());
    EXPECT_EQ(watch_announced(job.at(1, w)), 1U);
    EXPECT_FALSE(job.at(1, w).pending());
    EXPECT_FALSE(job.in(1, traffic::request, w).unwatch());
    job.in(1, traffic::request, w).release();
    EXPECT_TRUE(job.in(1, traffic::request, w).unwatch());
    post(job.out(0, traffic::request, w), 1, 1);
    job.settle();
    EXPECT_TRUE(job.at(1, w).pending());
    EXPECT_EQ(watch_announced(job.at(1, w)), 1U);
    post(job.out(0, traffic::request, w), 1, 1);
    job.settle();
    EXPECT_FALSE(job.at(1, w).pending());
  }
}

TEST(message_transport, all_through_domain_0_looked_at_by_the_mask) {
  message_shape s = shape_of(2, 2);
  s.route = message_route::domain_0;
  s.poll_mask = 3;
  two_nodes job(s);
  post(job.out(0, traffic::request, 1), 5, 1);
  EXPECT_TRUE(job.wire(0, 1).all_sent());
  EXPECT_FALSE(job.wire(0, 0).all_sent());
  int looks = 0;
  while (!job.wire(0, 0).all_sent()) {
    job.at(0, 1).progress();
    ++looks;
  }
  EXPECT_LE(looks, 4);
  for (int i = 0; i < 4; ++i) job.at(1, 0).progress();
  EXPECT_EQ(job.in(1, traffic::request, 1).front()[0], 5U);
  // Worker 0 looks at its own domain each time.
  for (int i = 0; i < 4; ++i) {
    post(job.out(0, traffic::request, 0), 6, 1);
    job.at(0, 0).progress();
    EXPECT_TRUE(job.wire(0, 0).all_sent());
  }
}

TEST(message_transport, who_sleeps_is_rung_for_what_arrives_and_looks_by_itself) {
  two_nodes job(shape_of(1, 1));
  domain& d = job.at(1);
  static_cast<void>(d.longest_sleep_ns());
  const std::int64_t first = d.longest_sleep_ns();
  EXPECT_GT(first, 0);
  std::int64_t last = first;
  for (int i = 0; i < 20; ++i) last = d.longest_sleep_ns();
  EXPECT_GT(last, first);
  EXPECT_LT(last, 10'000'000);
  d.bell()->prepare();
  post(job.out(0), 1, 1);
  job.settle();
  EXPECT_FALSE(d.bell()->may_sleep());
  EXPECT_LT(d.longest_sleep_ns(), last);
}

// As a worker sleeps: for ever where it may.
void sleep_until_rung(domain& d, const in_channel& watched) {
  d.bell()->prepare();
  while (d.bell()->may_sleep()) {
    if (d.pending() || watched.seems_available()) return d.bell()->cancel();
    machine::futex_wait(d.bell()->word(), lockfree::doorbell<>::k_announced, d.longest_sleep_ns(), false);
  }
}

TEST(message_transport, who_sleeps_for_ever_is_woken_where_the_library_tells) {
  for (const unsigned domains : {1U, 2U}) {
    two_nodes job(shape_of(2, domains), true);
    ASSERT_LT(job.at(1, 1).longest_sleep_ns(), 0);
    std::thread sleeper([&] {
      for (std::uint64_t b = 0; b < 200; ++b) {
        in_channel& in = job.in(1, traffic::request, 1);
        while (in.front().empty()) {
          watch_announced(job.at(1, 1));
          sleep_until_rung(job.at(1, 1), in);
        }
        EXPECT_EQ(in.front()[0], b);
        in.release();
        job.at(1, 1).progress();  // acknowledges
      }
    });
    for (std::uint64_t b = 0; b < 200; ++b) {
      while (job.out(0, traffic::request, 1).acquire() == nullptr)
        sleep_until_rung(job.at(0, 1), job.in(0, traffic::reply, 1));
      post(job.out(0, traffic::request, 1), b, 3);
      job.at(0, 1).progress();
    }
    sleeper.join();
  }
}

TEST(message_transport, who_goes_to_sleep_sends_first_and_stays_awake_if_something_has_come) {
  two_nodes job(shape_of(1, 1), true);
  post(job.out(0), 1, 1);
  EXPECT_LT(job.at(0).longest_sleep_ns(), 0);
  EXPECT_TRUE(job.wire(0).all_sent());
  EXPECT_GT(job.at(1).longest_sleep_ns(), 0);
  EXPECT_FALSE(job.in(1).front().empty());
  EXPECT_LT(job.at(1).longest_sleep_ns(), 0);
}

TEST(message_transport, losses_are_told_once_and_not_after_the_end) {
  two_nodes job(shape_of(1, 1));
  job.wire(0).break_with(1);
  job.at(0).progress();
  job.at(0).progress();
  EXPECT_EQ(job.lost, std::vector<std::uint32_t>{1});
  job.nodes[1]->finish(true);
  job.wire(1).break_with(0);
  job.at(1).progress();
  EXPECT_EQ(job.lost, std::vector<std::uint32_t>{1});
}

class servers : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(the_library, servers, testing::Bool(),
                         [](const auto& given) { return given.param ? "tells" : "is_silent"; });

TEST_P(servers, move_everything_by_themselves) {
  message_shape s = shape_of(2, 1);
  s.progress = progress_role::server;
  two_nodes job(s, GetParam());
  EXPECT_LT(job.at(0).longest_sleep_ns(), 0);
  for (std::uint64_t b = 0; b < 100; ++b)
    for (unsigned w = 0; w < 2; ++w) {
      while (job.out(0, traffic::request, w).acquire() == nullptr) std::this_thread::yield();
      post(job.out(0, traffic::request, w), b, 3);
      while (job.in(1, traffic::request, w).front().empty()) std::this_thread::yield();
      EXPECT_EQ(job.in(1, traffic::request, w).front()[0], b);
      job.in(1, traffic::request, w).release();
    }
  while (job.out(0).done() != 100) std::this_thread::yield();
  // Also what is executed when it has long gone to sleep.
  post(job.out(0), 1, 1);
  while (job.in(1).front().empty()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  job.in(1).release();
  while (job.out(0).done() != 101) std::this_thread::yield();
}

TEST(message_transport, what_is_owed_leaves_at_the_end) {
  two_nodes job(shape_of(1, 1));
  post(job.out(0), 1, 1);
  job.settle();
  job.in(1).front();
  job.in(1).release();
  job.nodes[1]->finish(true);
  EXPECT_TRUE(job.wire(1).all_sent());
  job.at(0).progress();
  EXPECT_EQ(job.out(0).done(), 1U);
}

TEST(message_transport, a_sleeping_sibling_of_the_receiver_is_asked_to_serve_once_at_a_time) {
  two_nodes job(shape_of(2, 2), true);
  domain& sibling = job.at(1, 1);
  post(job.out(0), 7, 1);
  job.at(0).progress();
  sibling.bell()->prepare();
  while (sibling.longest_sleep_ns() >= 0) job.at(1, 1).progress();  // until its event is armed
  EXPECT_TRUE(sibling.bell()->may_sleep());
  EXPECT_EQ(job.out(0).wake_deputy(), deputy::woken);
  EXPECT_EQ(job.out(0).wake_deputy(), deputy::none_sleeps);  // it has not answered yet
  job.at(0, 1).progress();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (sibling.bell()->may_sleep() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_FALSE(sibling.bell()->may_sleep());
  EXPECT_TRUE(job.in(1).front().empty());
  job.at(1).progress();  // as the sibling does for the worker that does not
  EXPECT_EQ(job.in(1).front().size(), 1U);
  // The activity that watches may hold the domain that has the answer, so that one look does not find it.
  deputy again = deputy::none_sleeps;
  while (again != deputy::woken && std::chrono::steady_clock::now() < end) {
    job.settle();
    again = job.out(0).wake_deputy();
  }
  EXPECT_EQ(again, deputy::woken);
}

TEST(message_transport, who_has_no_sibling_or_no_events_asks_for_no_deputy) {
  two_nodes alone(shape_of(1, 1), true);
  EXPECT_EQ(alone.out(0).wake_deputy(), deputy::impossible);
  two_nodes silent(shape_of(2, 2));
  EXPECT_EQ(silent.out(0).wake_deputy(), deputy::impossible);
}

}  // namespace
}  // namespace shoal::net
