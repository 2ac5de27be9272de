// SPDX-License-Identifier: Apache-2.0
// Several nodes of a network in one process, a thread for each wire, and traffic of which every word is known: who sent
// it, to whom, the how-manieth it is. Who may call: tests of wires.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "net/wire.hpp"

namespace shoal::net {

constexpr std::size_t k_most_words = 2500;
constexpr unsigned k_credits = 6;  // messages from one wire to another that may be in flight

struct cluster {
  std::vector<std::unique_ptr<network>> nodes;
  std::vector<std::vector<std::byte>> segments;

  // `change`: what else the request shall say.
  cluster(const net_plugin& plugin, std::uint32_t count, unsigned domains, std::size_t segment_bytes = 0,
          const std::function<void(network_request&)>& change = {}) {
    segments.resize(count);
    std::vector<std::vector<std::byte>> addresses;
    for (std::uint32_t node = 0; node < count; ++node) {
      segments[node].resize(segment_bytes);
      network_request request{.node = node,
                              .nodes = count,
                              .domains = domains,
                              .most_words = k_most_words,
                              .messages = k_credits,
                              .lanes = 1,
                              .one_machine = true};
      if (segment_bytes != 0) request.segment = segments[node].data();
      request.segment_bytes = segment_bytes;
      if (change) change(request);
      nodes.push_back(plugin.open(request));
      addresses.push_back(nodes.back()->address());
    }
    for (auto& node : nodes) node->connect(addresses);
  }
};

// What is in a message: everything follows from who sends the how-manieth to whom, through which domain.
struct content {
  std::uint32_t from, to;
  unsigned domain;
  std::uint32_t number;

  std::uint64_t word(std::size_t i) const {
    std::uint64_t x =
        (std::uint64_t{from} << 48 | std::uint64_t{to} << 40 | std::uint64_t{domain} << 32 | number) + i + 1;
    x *= 0x9e3779b97f4a7c15U;
    return x ^ x >> 29;
  }
  std::size_t words() const {
    constexpr std::size_t sizes[] = {0, 1, 100, 2047, k_most_words};
    const std::uint64_t choice = word(1'000'000);
    return choice % 8 < 5 ? sizes[choice % 8] : choice / 8 % (k_most_words + 1);
  }
  message_label label() const {
    return {.lane = static_cast<std::uint16_t>(word(1'000'001)),
            .kind = static_cast<std::uint8_t>(word(1'000'002) % 2 == 0 ? message_kind::request : message_kind::reply),
            .unused = 0,
            .from = from,
            .executed = {number, static_cast<std::uint32_t>(word(1'000'003))}};
  }
};

// Sends `messages` to the same domain of each other node, checks what comes from them, keeps some of it for a while, and
// acknowledges it. Runs until everything has come, been given back and been acknowledged, everywhere.
class traffic_wire final : public wire_user {
public:
  traffic_wire(network& n, std::uint32_t node, std::uint32_t nodes, unsigned domain, std::uint32_t messages,
               std::atomic<unsigned>& busy)
      : wire_(n.at(domain)),
        node_(node),
        domain_(domain),
        messages_(messages),
        busy_(busy),
        random_(node * 16 + domain),
        peers_(nodes) {
    for (peer& p : peers_)
      for (buffer& b : p.buffers) b.words.resize(k_most_words + k_label_words);
  }

  void run(std::chrono::steady_clock::time_point end) {
    bool done = false;
    while (busy_.load(std::memory_order_acquire) != 0 && std::chrono::steady_clock::now() < end) {
      bool any = wire_.progress(*this);
      for (std::uint32_t to = 0; to < peers_.size(); ++to)
        if (to != node_) any = send_some(to) || any;
      any = give_some_back() || any;
      if (!done && everything()) {
        done = true;
        busy_.fetch_sub(1, std::memory_order_acq_rel);
      }
      if (!any) std::this_thread::yield();
    }
    EXPECT_TRUE(done) << "node " << node_ << ", domain " << domain_ << ": " << state();
    EXPECT_EQ(lost_, 0U);
    EXPECT_GT(kept_in_all_ + messages_ / 100, 0U);
  }

  bool arrived(const arrival& a) noexcept override {
    peer& p = peers_[a.label.from];
    if (a.label.kind == static_cast<std::uint8_t>(message_kind::acknowledgement)) {
      EXPECT_EQ(a.count, 0U);
      EXPECT_GT(a.label.executed[1], p.acknowledged);
      p.acknowledged = a.label.executed[1];
      return false;
    }
    const content c{a.label.from, node_, domain_, p.came++};
    const message_label expected = c.label();
    EXPECT_EQ(a.label.executed[0], c.number) << "out of order";
    EXPECT_EQ(a.label.lane, expected.lane);
    EXPECT_EQ(a.label.kind, expected.kind);
    EXPECT_EQ(a.label.executed[1], expected.executed[1]);
    EXPECT_EQ(a.count, c.words());
    check(a, c);
    if (a.count != 0 && random_() % 2 == 0) {
      kept_.push_back({a, c});
      ++kept_in_all_;
      return true;
    }
    acknowledge(a.label.from);
    return false;
  }
  void unreachable(std::uint32_t, const char* why) noexcept override {
    ++lost_;
    ADD_FAILURE() << why;
  }

private:
  struct buffer {
    std::vector<std::uint64_t> words;
    std::atomic<bool> sent{true};
  };
  struct peer {
    std::uint32_t sent = 0, acknowledged = 0, came = 0, executed = 0;
    buffer buffers[k_credits];
  };
  struct keeping {
    arrival a;
    content c;
  };

  static void check(const arrival& a, const content& c) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.words) % alignof(std::uint64_t), 0U);
    for (std::size_t i = 0; i < a.count; ++i)
      if (a.words[i] != c.word(i)) {
        ADD_FAILURE() << "word " << i << " of " << a.count << " is wrong in message " << c.number;
        return;
      }
  }

  void acknowledge(std::uint32_t to) noexcept {
    const message_label label{.lane = 0,
                              .kind = static_cast<std::uint8_t>(message_kind::acknowledgement),
                              .unused = 0,
                              .from = node_,
                              .executed = {0, ++peers_[to].executed}};
    wire_.send(to, label, nullptr, 0, nullptr);
  }

  bool send_some(std::uint32_t to) {
    peer& p = peers_[to];
    bool any = false;
    for (buffer& b : p.buffers) {
      if (p.sent == messages_ || p.sent - p.acknowledged == k_credits) break;
      if (!b.sent.load(std::memory_order_acquire)) continue;
      std::fill(b.words.begin(), b.words.end(), 0xdeadU);  // nobody reads them any more
      const content c{node_, to, domain_, p.sent++};
      const std::size_t count = c.words();
      for (std::size_t i = 0; i < count; ++i) b.words[k_label_words + i] = c.word(i);
      b.sent.store(count == 0, std::memory_order_relaxed);
      wire_.send(to, c.label(), count == 0 ? nullptr : b.words.data() + k_label_words, count,
                 count == 0 ? nullptr : &b.sent);
      any = true;
    }
    return any;
  }

  bool give_some_back() {
    if (kept_.empty() || random_() % 4 != 0) return false;
    const auto chosen = kept_.begin() + static_cast<std::ptrdiff_t>(random_() % kept_.size());
    check(chosen->a, chosen->c);
    wire_.give_back(chosen->a.token);
    acknowledge(chosen->a.label.from);
    kept_.erase(chosen);
    return true;
  }

  bool everything() const {
    for (std::uint32_t n = 0; n < peers_.size(); ++n) {
      const peer& p = peers_[n];
      if (n != node_ && (p.sent != messages_ || p.acknowledged != messages_ || p.executed != messages_)) return false;
      for (const buffer& b : p.buffers)
        if (!b.sent.load(std::memory_order_acquire)) return false;
    }
    return true;
  }

  std::string state() const {
    std::string text;
    for (const peer& p : peers_)
      text += " sent " + std::to_string(p.sent) + " acknowledged " + std::to_string(p.acknowledged) + " came " +
              std::to_string(p.came) + ";";
    return text;
  }

  wire& wire_;
  std::uint32_t node_;
  unsigned domain_;
  std::uint32_t messages_;
  std::atomic<unsigned>& busy_;
  std::minstd_rand random_;
  std::vector<peer> peers_;
  std::deque<keeping> kept_;
  unsigned kept_in_all_ = 0, lost_ = 0;
};

inline void run_traffic(cluster& c, unsigned domains, std::uint32_t messages) {
  const auto nodes = static_cast<std::uint32_t>(c.nodes.size());
  std::atomic<unsigned> busy = nodes * domains;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::vector<std::thread> threads;
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (unsigned domain = 0; domain < domains; ++domain)
      threads.emplace_back([&c, &busy, node, nodes, domain, messages, end] {
        traffic_wire(*c.nodes[node], node, nodes, domain, messages, busy).run(end);
      });
  for (std::thread& t : threads) t.join();
}

}  // namespace shoal::net
