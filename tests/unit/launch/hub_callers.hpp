// SPDX-License-Identifier: Apache-2.0
// For tests of the hub: nodes as threads, and callers that are none.
// Who may call: tests, any thread.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "launch/control.hpp"
#include "machine/socket.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {

inline constexpr std::int64_t k_ms = 1'000'000;
inline constexpr std::int64_t k_long_ns = 20'000 * k_ms;

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline hub_options options_for(std::uint32_t nodes) {
  hub_options o;
  o.nodes = nodes;
  o.silence_ns = o.start_ns = k_long_ns;
  o.linger_ns = 100 * k_ms;
  return o;
}

inline control::identity identity_of(std::uint32_t node, std::uint32_t nodes) {
  return {node, nodes, "code", "workers 1"};
}

/// What coming as this node throws; "" if it is let in.
inline std::string refusal(const hub_place& place, const control::identity& me, std::int64_t timeout_ns = k_long_ns) {
  try {
    control(place, me, timeout_ns).leave();
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

/// All nodes of a job at once, each on a thread of its own.
inline void as_nodes(std::uint32_t nodes, const std::function<void(std::uint32_t)>& body) {
  std::vector<std::thread> threads;
  for (std::uint32_t n = 0; n < nodes; ++n) threads.emplace_back(body, n);
  for (auto& t : threads) t.join();
}

/// The news of a node, waited for in slices as a service thread does.
inline std::optional<loss> news(control& c, std::int64_t limit_ns = k_long_ns) {
  for (std::int64_t spent = 0; spent < limit_ns; spent += 20 * k_ms)
    if (auto l = c.watch(20 * k_ms, -1)) return l;
  return std::nullopt;
}

/// All nodes let in, in one thread's hands.
inline std::vector<std::unique_ptr<control>> all_in(const hub_place& place, std::uint32_t nodes) {
  std::vector<std::unique_ptr<control>> in(nodes);
  as_nodes(nodes, [&](std::uint32_t n) {
    try {
      in[n] = std::make_unique<control>(place, identity_of(n, nodes), k_long_ns);
    } catch (const error& e) {
      ADD_FAILURE() << e.what();
    }
  });
  return in;
}

/// A connection to the hub without its protocol.
class raw_caller {
public:
  explicit raw_caller(const hub_place& place) : socket_(machine::socket::connect(place.host, place.port, k_long_ns)) {}

  void say(std::span<const std::byte> bytes) { socket_.send(bytes); }
  void say(const std::string& text) { say(std::as_bytes(std::span(text))); }
  std::string address() const { return socket_.own_address(); }
  machine::socket& socket() { return socket_; }
  /// At least `wanted` bytes, or what came before the end.
  std::vector<std::byte> hear(std::size_t wanted) {
    std::vector<std::byte> got;
    std::array<std::byte, 256> room{};
    while (got.size() < wanted) {
      machine::poll_set ready;
      ready.add(socket_.descriptor(), true, false);
      if (!ready.wait(k_long_ns)) break;
      const auto t = socket_.receive(room);
      if (t.state == machine::stream_state::closed) break;
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(t.bytes));
    }
    return got;
  }
  /// Whether the hub ends the connection in time.
  bool is_shown_the_door() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    hear(~std::size_t{0});
    return std::chrono::steady_clock::now() < end;
  }

private:
  machine::socket socket_;
};

}  // namespace shoal::launch
