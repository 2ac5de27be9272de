// SPDX-License-Identifier: Apache-2.0
#include "machine/socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr std::int64_t k_long_ns = 20'000'000'000;

std::string refusal(const std::function<void()>& what) {
  try {
    what();
    return "it was not refused";
  } catch (const error& e) {
    return e.what();
  }
}

bool wait_readable(const socket& s) {
  poll_set set;
  set.add(s.descriptor(), true, false);
  return set.wait(k_long_ns) && set.readable(0);
}

struct connected {
  socket listening;
  socket caller;
  socket taken;
};

connected connect_over(const std::string& host) {
  connected c;
  c.listening = socket::listen(host, 0);
  c.caller = socket::connect(host, port_of(c.listening.own_address()), k_long_ns);
  EXPECT_TRUE(wait_readable(c.listening));
  EXPECT_EQ(c.listening.accept(c.taken), acceptance::one);
  return c;
}

TEST(socket, bytes_arrive_over_both_kinds_of_addresses) {
  for (const char* host : {"127.0.0.1", "::1", "localhost"}) {
    connected c;
    try {
      c = connect_over(host);
    } catch (const error&) {
      EXPECT_STREQ(host, "::1");  // a machine without IPv6 is a machine
      continue;
    }
    EXPECT_EQ(c.caller.own_address(), c.taken.peer_address());
    EXPECT_EQ(c.caller.peer_address(), c.listening.own_address());
    const std::string sent = "hello";
    EXPECT_EQ(c.caller.send(std::as_bytes(std::span(sent))).bytes, sent.size());
    std::array<std::byte, 16> room{};
    ASSERT_TRUE(wait_readable(c.taken));
    EXPECT_EQ(c.taken.receive(room).bytes, sent.size());
    EXPECT_EQ(c.taken.receive(room).state, stream_state::blocked);
  }
}

TEST(socket, listens_at_the_address_asked_for_and_no_other) {
  const socket there = socket::listen("127.0.0.2", 0);
  EXPECT_TRUE(there.own_address().starts_with("127.0.0.2:")) << there.own_address();
  const std::uint16_t port = port_of(there.own_address());
  EXPECT_NE(refusal([&] { socket::connect("127.0.0.1", port, k_long_ns); }).find("nothing listens there"),
            std::string::npos);
  EXPECT_TRUE(socket::connect("127.0.0.2", port, k_long_ns).open());
}

TEST(socket, a_refusal_is_a_sentence) {
  EXPECT_NE(refusal([] { socket::listen("192.0.2.1", 0); }).find("is not this machine's"), std::string::npos);
  const socket there = socket::listen("127.0.0.1", 0);
  const std::string taken = refusal([&] { socket::listen("127.0.0.1", port_of(there.own_address())); });
  EXPECT_NE(taken.find("another program listens there"), std::string::npos) << taken;
  const std::string unknown = refusal([] { socket::connect("no-such-host.invalid", 1, k_long_ns); });
  EXPECT_NE(unknown.find("'no-such-host.invalid' does not resolve"), std::string::npos) << unknown;
  EXPECT_NE(refusal([] { resolve("no-such-host.invalid"); }).find("does not resolve"), std::string::npos);
}

TEST(socket, more_than_fits_is_sent_in_parts) {
  auto [from, to] = socket::pair();
  std::vector<std::byte> much(4 << 20);
  for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<std::byte>(i * 7);
  std::vector<std::byte> got;
  std::thread reader([&, &end = to] {
    std::array<std::byte, 5000> room;
    for (;;) {
      const transfer t = end.receive(room);
      if (t.state == stream_state::closed) return;
      if (t.state == stream_state::blocked) {
        wait_readable(end);
        continue;
      }
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(t.bytes));
    }
  });
  bool blocked = false;
  for (auto left = std::span<const std::byte>(much); !left.empty();) {
    const transfer t = from.send(left);
    left = left.subspan(t.bytes);
    if (t.state != stream_state::blocked) continue;
    blocked = true;
    poll_set set;
    set.add(from.descriptor(), false, true);
    ASSERT_TRUE(set.wait(k_long_ns));
    EXPECT_TRUE(set.writable(0));
  }
  ::shutdown(from.descriptor(), SHUT_WR);
  reader.join();
  EXPECT_TRUE(blocked);
  EXPECT_EQ(got, much);
}

TEST(socket, sending_to_one_that_is_gone_raises_no_signal) {
  auto [from, to] = socket::pair();
  to.close();
  const std::array<std::byte, 4> some{};
  EXPECT_EQ(from.send(some).state, stream_state::closed);
  std::array<std::byte, 4> room{};
  EXPECT_EQ(from.receive(room).state, stream_state::closed);
  poll_set set;
  set.add(from.descriptor(), true, false);
  EXPECT_TRUE(set.wait(k_long_ns));
  EXPECT_TRUE(set.readable(0));
}

TEST(socket, addresses_are_taken_apart) {
  EXPECT_EQ(port_of("127.0.0.1:4711"), 4711);
  EXPECT_EQ(port_of("[::1]:80"), 80);
  EXPECT_EQ(host_of("[::1]:80"), "::1");
  EXPECT_EQ(host_of("a.b:80"), "a.b");
  EXPECT_EQ(port_of("unknown"), 0);
}

TEST(socket, this_machine_has_a_name_and_numbers) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(resolve("127.0.0.1"), "127.0.0.1");
  try {
    const std::string address = reachable_address();
    EXPECT_FALSE(address.starts_with("127.")) << address;
    EXPECT_TRUE(socket::listen(address, 0).open());
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::not_found) << e.what();  // no network but itself
  }
}

TEST(poll_set, time_passes_and_negative_descriptors_never_wake) {
  poll_set set;
  set.add(-1, true, true);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(set.wait(30'000'000));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
  EXPECT_FALSE(set.readable(0));
  EXPECT_FALSE(set.writable(0));
}

}  // namespace
}  // namespace shoal::machine
