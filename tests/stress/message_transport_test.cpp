// SPDX-License-Identifier: Apache-2.0
// Channels over a lazy network in memory, several workers to a domain: random sizes, pauses and siblings that move
// messages too; where the network tells what comes, who can do nothing sleeps until it is rung. Every buffer arrives
// once, whole, in order; room always comes back. How long, and with which seed: stress/rounds.hpp.
#include "net/message_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "machine/futex.hpp"
#include "shoal/random.hpp"
#include "stress/rounds.hpp"
#include "unit/net/loop_network.hpp"

namespace shoal::net {
namespace {

struct game {
  message_shape shape;
  std::uint64_t seed = 0;
  std::uint64_t buffers = 0;  // per channel
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<unsigned> busy{0};  // workers that have not sent and received all
  bool tells = false;
  std::vector<domain*> all;  // of all workers
  std::atomic<std::uint64_t> slept{0}, overslept{0};
};

// Watches what is announced to it, as a server does.
struct watcher final : announced_to {
  explicit watcher(domain& of) : its(of) {}
  void announced(std::uint32_t node, traffic t) noexcept override { its.in(node, t).watch(); }
  domain& its;
};

// A worker that can do nothing.
template <class Look>
void sleep_until_rung(game& g, domain& d, const Look& can_do_something) {
  constexpr std::int64_t k_too_long_ns = 5'000'000'000;
  d.bell()->prepare();
  if (g.busy.load() == 0 || d.pending() || can_do_something()) return d.bell()->cancel();
  const std::int64_t limit_ns = d.longest_sleep_ns();
  ++g.slept;
  const auto how = machine::futex_wait(d.bell()->word(), lockfree::doorbell<>::k_announced,
                                       limit_ns < 0 ? k_too_long_ns : limit_ns, false);
  d.bell()->cancel();
  if (limit_ns < 0 && how == machine::futex_result::timeout) ++g.overslept;
}

// What word i of buffer b of a channel holds.
std::uint64_t word(std::uint32_t from, std::uint32_t to, unsigned worker, unsigned cls, std::uint64_t b,
                   std::size_t i) {
  return splitmix64::at((std::uint64_t{from} << 48) ^ (std::uint64_t{to} << 40) ^ (std::uint64_t{worker} << 32) ^ cls,
                        b * 1000 + i);
}

void play_worker(game& g, message_transport& node, std::uint32_t me, unsigned worker) {
  xoshiro256ss random(splitmix64::at(g.seed, 100 * me + worker));
  domain& d = node.at(worker);
  const std::size_t channels = std::size_t{g.shape.nodes} * k_traffic_classes;
  std::vector<std::uint64_t> sent(channels), received(channels);
  const std::uint64_t all = g.buffers * k_traffic_classes * (g.shape.nodes - 1);
  std::uint64_t done = 0;
  const auto counts = [&](std::vector<std::uint64_t>& v, std::uint32_t n, unsigned c) -> std::uint64_t& {
    return v[n * k_traffic_classes + c];
  };
  const auto step = [&] {
    const auto n = static_cast<std::uint32_t>(random.below(g.shape.nodes));
    const auto c = static_cast<unsigned>(random.below(k_traffic_classes));
    if (n == me) return;
    out_channel& out = d.out(n, static_cast<traffic>(c));
    if (std::uint64_t& b = counts(sent, n, c); b < g.buffers) {
      if (std::uint64_t* words = out.acquire(); words != nullptr) {
        const std::size_t count = 1 + random.below(out.capacity_words());
        for (std::size_t i = 0; i < count; ++i) words[i] = word(me, n, worker, c, b, i);
        out.post(count);
        ++b;
        ++done;
      }
    }
    in_channel& in = d.in(n, static_cast<traffic>(c));
    const auto front = in.front();
    if (front.empty() && !is_reply(static_cast<traffic>(c)) && random.below(4) == 0) in.unwatch();
    if (front.empty() || random.below(3) == 0) return;
    std::uint64_t& b = counts(received, n, c);
    for (std::size_t i = 0; i < front.size(); ++i)
      if (front[i] != word(n, me, worker, c, b, i)) ++g.wrong;
    in.release();
    ++b;
    ++done;
  };
  const auto can_do_something = [&] {
    for (std::uint32_t n = 0; n < g.shape.nodes; ++n)
      for (unsigned c = 0; c < k_traffic_classes && n != me; ++c)
        if ((counts(sent, n, c) < g.buffers && d.out(n, static_cast<traffic>(c)).acquire() != nullptr) ||
            !d.in(n, static_cast<traffic>(c)).front().empty())
          return true;
    return false;
  };
  bool mine_done = false;
  watcher watching(d);
  while (g.busy.load() != 0) {
    step();
    d.progress();
    if (d.announced()) d.take_announced(watching);
    if (random.below(8) == 0) node.at(static_cast<unsigned>(random.below(g.shape.workers))).progress();
    if (random.below(16) == 0) std::this_thread::yield();
    if (!mine_done && done == 2 * all) {
      mine_done = true;
      if (--g.busy == 0)
        for (domain* other : g.all)
          if (other->bell()->ring()) machine::futex_wake(other->bell()->word(), 1, false);
    }
    if (g.tells && g.overslept == 0 && random.below(8) == 0 && !can_do_something())
      sleep_until_rung(g, d, can_do_something);
  }
}

void play(std::uint64_t seed) {
  xoshiro256ss random(seed);
  game g;
  g.seed = seed;
  g.shape.nodes = 2 + static_cast<std::uint32_t>(random.below(2));
  g.shape.workers = 1 + static_cast<unsigned>(random.below(3));
  g.shape.domains = 1 + static_cast<unsigned>(random.below(g.shape.workers));
  g.shape.route = random.below(4) == 0 ? message_route::domain_0 : message_route::own;
  g.shape.poll_mask = random.below(2) == 0 ? 0 : 3;
  g.shape.progress = random.below(4) == 0 ? progress_role::server : progress_role::workers;
  g.shape.slot_bytes = 256;
  g.shape.slots = std::size_t{2} << random.below(3);
  g.buffers = 1 + random.below(200);
  g.tells = random.below(2) == 0;
  loop_world world(g.shape.nodes, g.shape.domains, g.tells);
  std::vector<std::unique_ptr<message_transport>> nodes;
  for (g.shape.node = 0; g.shape.node < g.shape.nodes; ++g.shape.node)
    nodes.push_back(std::make_unique<message_transport>(
        "memory", std::make_unique<loop_network>(world, g.shape.node, g.shape.domains), g.shape,
        [](std::uint32_t, const char*) {}));
  for (auto& node : nodes)
    for (unsigned w = 0; w < g.shape.workers; ++w) g.all.push_back(&node->at(w));
  g.busy = g.shape.nodes * g.shape.workers;
  std::vector<std::thread> threads;
  for (std::uint32_t n = 0; n < g.shape.nodes; ++n)
    for (unsigned w = 0; w < g.shape.workers; ++w) threads.emplace_back([&, n, w] { play_worker(g, *nodes[n], n, w); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(g.wrong.load(), 0U);
  EXPECT_EQ(g.overslept.load(), 0U) << "of " << g.slept.load();
}

TEST(message_transport_stress, everything_arrives_once_and_room_comes_back) { stress::play_rounds(play); }

}  // namespace
}  // namespace shoal::net
