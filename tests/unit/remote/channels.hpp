// SPDX-License-Identifier: Apache-2.0
// A domain whose other ends the test holds: it writes requests and reads replies.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "net/channel.hpp"

namespace shoal::remote {

using words = std::vector<std::uint64_t>;

class test_out final : public net::out_channel {
public:
  static constexpr std::size_t k_words = 32;
  std::uint64_t* acquire() noexcept override { return sent.size() - taken < bound ? open : nullptr; }
  void post(std::size_t count) noexcept override { sent.emplace_back(open, open + count); }
  std::size_t capacity_words() const noexcept override { return k_words; }
  std::uint64_t posted() const noexcept override { return sent.size(); }
  std::uint64_t done() const noexcept override { return taken; }
  net::deputy wake_deputy() noexcept override {
    ++deputies_asked;
    return deputies;
  }

  std::size_t bound = 1000;
  net::deputy deputies = net::deputy::impossible;
  int deputies_asked = 0;
  std::size_t taken = 0;
  std::vector<words> sent;
  words all() const {
    words joined;
    for (const words& w : sent) joined.insert(joined.end(), w.begin(), w.end());
    return joined;
  }

private:
  std::uint64_t open[k_words] = {};
};

class test_in final : public net::in_channel {
public:
  std::span<const std::uint64_t> front() noexcept override {
    return arrived.empty() ? std::span<const std::uint64_t>{} : std::span<const std::uint64_t>(arrived.front());
  }
  void release() noexcept override {
    arrived.pop_front();
    ++released;
  }
  bool seems_available() const noexcept override { return !arrived.empty(); }
  void watch() noexcept override { watched = true; }
  bool unwatch() noexcept override {
    watched = !arrived.empty();
    return !watched;
  }
  bool must_announce() const noexcept { return !watched && !arrived.empty(); }
  bool watched = false;
  std::deque<words> arrived;
  std::size_t released = 0;
};

/// Two nodes; this is node 0, the test is node 1.
class test_domain final : public net::domain {
public:
  net::out_channel& out(unsigned, net::traffic t) noexcept override {
    return *std::array{&requests_out, &replies_out, &handler_requests_out,
                       &handler_replies_out}[static_cast<unsigned>(t)];
  }
  net::in_channel& in(unsigned node, net::traffic t) noexcept override {
    if (node == 0) return nobody;
    return *std::array{&requests_in, &replies_in, &handler_requests_in, &handler_replies_in}[static_cast<unsigned>(t)];
  }
  bool announced() const noexcept override {
    return requests_in.must_announce() || handler_requests_in.must_announce();
  }
  void take_announced(net::announced_to& to) noexcept override {
    if (requests_in.must_announce()) to.announced(1, net::traffic::request);
    if (handler_requests_in.must_announce()) to.announced(1, net::traffic::handler_request);
  }
  lockfree::doorbell<>* bell() noexcept override { return nullptr; }
  bool bell_is_shared() const noexcept override { return false; }

  test_out requests_out, replies_out, handler_requests_out, handler_replies_out;
  test_in requests_in, replies_in, handler_requests_in, handler_replies_in, nobody;
};

}  // namespace shoal::remote
