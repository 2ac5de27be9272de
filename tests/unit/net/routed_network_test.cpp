// SPDX-License-Identifier: Apache-2.0
// Whole transports over routes, all nodes in this process, a thread for each worker: every message is known, arrives
// once, in order, and is answered.
#include "net/routes/routed_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/message_transport.hpp"
#include "net/routes/plan.hpp"
#include "net/transports/inproc.hpp"

namespace shoal::net {
namespace {

struct routed_case {
  std::string name;
  std::shared_ptr<const route_map> map;
  unsigned workers = 1;
  std::size_t buffers = 2;
  std::size_t kept = 64;
  std::uint32_t messages = 200;  // of each worker to each node
  bool large = false;            // all messages need the room that channels share
};

std::uint64_t word_of(std::uint32_t from, std::uint32_t to, unsigned worker, traffic t, std::uint64_t number,
                      std::size_t i) {
  std::uint64_t x = std::uint64_t{from} << 48 ^ std::uint64_t{to} << 32 ^ std::uint64_t{worker} << 24 ^
                    static_cast<std::uint64_t>(t) << 20 ^ number << 8 ^ i;
  x *= 0x9e3779b97f4a7c15U;
  return x ^ x >> 31;
}

// A worker of a node: sends requests to all nodes in random order, and answers those it gets.
class routed_worker final : announced_to {
public:
  routed_worker(transport& by, std::uint32_t node, unsigned worker, std::uint32_t nodes, std::uint32_t messages,
                bool large)
      : domain_(by.at(worker)),
        node_(node),
        worker_(worker),
        messages_(messages),
        large_(large),
        random_(node * 64 + worker),
        peers_(nodes) {}

  // True when everything has been sent, executed, and answered, here.
  bool turn() {
    bool any = domain_.progress();
    if (domain_.announced()) domain_.take_announced(*this);
    for (std::uint32_t n = 0; n < peers_.size(); ++n) {
      if (n == node_) continue;
      any |= send(n);
      any |= answer(n);
      any |= take_answers(n);
    }
    if (!any) std::this_thread::yield();
    for (std::uint32_t n = 0; n < peers_.size(); ++n)
      if (n != node_ && (peers_[n].answered != messages_ || domain_.out(n, traffic::request).done() != messages_))
        return false;
    return true;
  }
  std::uint32_t taken() const {
    std::uint32_t sum = 0;
    for (const peer& p : peers_) sum += p.taken;
    return sum;
  }

private:
  struct peer {
    std::uint32_t sent = 0, taken = 0, answered = 0;
    bool watched = false;
  };
  void announced(std::uint32_t node, traffic t) noexcept override {
    EXPECT_EQ(t, traffic::request);
    peers_[node].watched = true;
    domain_.in(node, t).watch();
  }
  bool post(std::uint32_t to, traffic t, std::uint64_t number) {
    out_channel& out = domain_.out(to, t);
    // Mostly small, some as large as they may be.
    const std::uint64_t choice = word_of(node_, to, worker_, t, number, 1000);
    std::size_t words = 1 + choice % ((choice >> 32 & 7) != 0 ? 25 : out.capacity_words());
    if (large_) words = std::max<std::size_t>(words, 100);
    const std::span<std::uint64_t> at = out.acquire_for(words);
    if (at.empty()) return false;
    EXPECT_GE(at.size(), words);
    for (std::size_t i = 0; i < words; ++i) at[i] = word_of(node_, to, worker_, t, number, i);
    out.post(words);
    return true;
  }
  void check(std::uint32_t from, traffic t, std::uint64_t number, std::span<const std::uint64_t> got) {
    bool right = true;
    for (std::size_t i = 0; i < got.size(); ++i) right = right && got[i] == word_of(from, node_, worker_, t, number, i);
    EXPECT_TRUE(right) << "message " << number << " from node " << from << " to " << node_;
  }
  bool send(std::uint32_t to) {
    peer& p = peers_[to];
    if (p.sent == messages_ || random_() % 2 == 0 || !post(to, traffic::request, p.sent)) return false;
    ++p.sent;
    return true;
  }
  bool answer(std::uint32_t from) {
    peer& p = peers_[from];
    if (!p.watched || random_() % 4 == 0) return false;
    in_channel& in = domain_.in(from, traffic::request);
    const auto got = in.front();
    if (got.empty() || !post(from, traffic::reply, p.taken)) return false;
    check(from, traffic::request, p.taken++, got);
    in.release();
    return true;
  }
  bool take_answers(std::uint32_t from) {
    peer& p = peers_[from];
    if (p.sent == p.answered) return false;
    in_channel& in = domain_.in(from, traffic::reply);
    const auto got = in.front();
    if (got.empty()) return false;
    check(from, traffic::reply, p.answered++, got);
    in.release();
    return true;
  }

  domain& domain_;
  const std::uint32_t node_;
  const unsigned worker_;
  const std::uint32_t messages_;
  const bool large_;
  std::minstd_rand random_;
  std::vector<peer> peers_;
};

class routed : public ::testing::TestWithParam<routed_case> {};

TEST_P(routed, every_message_arrives_once_in_order_and_is_answered) {
  const routed_case& c = GetParam();
  const std::uint32_t nodes = c.map->nodes();
  ring_shape rings{nodes, c.workers, std::size_t{4} << 10, c.buffers};
  rings.announces_replies = true;
  inproc_world world(rings);
  const job_shape shape{nodes, c.workers, rings.slot_bytes, c.buffers, {}};
  const route_plan plan{c.name, c.map, 256, c.kept, 0};
  std::vector<std::unique_ptr<transport>> all;
  for (std::uint32_t n = 0; n < nodes; ++n)
    all.push_back(route_over(world.connect(n), plan, n, shape, machine::threads()));

  std::atomic<unsigned> busy = nodes * c.workers;
  std::vector<std::unique_ptr<std::atomic<unsigned>>> working;  // by node
  for (std::uint32_t n = 0; n < nodes; ++n) working.push_back(std::make_unique<std::atomic<unsigned>>(c.workers));
  std::atomic<std::uint64_t> taken = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  std::vector<std::thread> threads;
  for (std::uint32_t n = 0; n < nodes; ++n)
    for (unsigned w = 0; w < c.workers; ++w)
      threads.emplace_back([&, n, w] {
        routed_worker me(*all[n], n, w, nodes, c.messages, c.large);
        bool done = false;
        while (busy.load() != 0 && std::chrono::steady_clock::now() < end)
          if (me.turn() && !std::exchange(done, true)) busy.fetch_sub(1);
        EXPECT_TRUE(done) << "node " << n << ", worker " << w;
        taken += me.taken();
        // The last of a node ends it, while others may still need it.
        if (working[n]->fetch_sub(1) == 1) all[n]->finish(true);
      });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(taken.load(), std::uint64_t{c.messages} * nodes * (nodes - 1) * c.workers);
}

const routed_case k_routed_cases[] = {
    {"shared", std::make_shared<route_map>(3, 1), 2},
    {"grid", std::make_shared<route_map>(9, 2)},
    {"short_grid", std::make_shared<route_map>(7, 2), 2, 2, 64, 100},
    {"large", std::make_shared<route_map>(6, 2), 1, 2, 2, 300, true},
    {"large_shared", std::make_shared<route_map>(3, 1), 3, 2, 2, 200, true},
    {"cube", std::make_shared<route_map>(8, 3), 1, 2, 2, 100},
    {"short_cube", std::make_shared<route_map>(11, 3), 1, 4, 64, 60},
    {"machines", std::make_shared<route_map>(std::vector<std::uint32_t>{3, 1, 2}), 2, 2, 4, 100},
};
INSTANTIATE_TEST_SUITE_P(all, routed, ::testing::ValuesIn(k_routed_cases),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace shoal::net
