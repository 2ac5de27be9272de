// SPDX-License-Identifier: Apache-2.0
#include "launch/control.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "hub_callers.hpp"
#include "machine/process.hpp"
#include "machine/socket.hpp"

namespace shoal::launch {
namespace {

std::vector<std::byte> part_of(std::uint32_t node, std::size_t bytes, int round) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(node * 16 + static_cast<unsigned>(round)));
}

TEST(hub_place, is_a_word_and_back) {
  const std::string secret(32, 'a');
  for (const char* host : {"127.0.0.1", "::1", "node-1.cluster"}) {
    const hub_place place{host, 4711, secret};
    const auto read = hub_place::parse(place.text());
    EXPECT_EQ(read.host, host);
    EXPECT_EQ(read.port, 4711);
    EXPECT_EQ(read.secret, secret);
    EXPECT_EQ(place.text().find(' '), std::string::npos);
  }
  for (const std::string& wrong : {std::string(), std::string("host:1"), std::string("abc@host:1"), secret + "@host",
                                   secret + "@:1", secret + "@host:0", secret + "@host:65536", secret + "@host:1x",
                                   secret + "@host:", secret + "@ho st:1", secret + ":1@host"}) {
    try {
      hub_place::parse(wrong);
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_input);
      EXPECT_FALSE(has(e.what(), secret)) << "the secret is not for logs";
    }
  }
}

class jobs : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(nodes, jobs, testing::Values(1, 2, 3, 16));

TEST_P(jobs, exchange_what_each_gives_and_leave) {
  const std::uint32_t nodes = GetParam();
  hub h(options_for(nodes));
  std::atomic<int> done{0};
  as_nodes(nodes, [&](std::uint32_t me) {
    control c(h.place(), identity_of(me, nodes), k_long_ns);
    for (int round = 0; round < 4; ++round) {
      const auto size = [&](std::uint32_t n) { return (n + static_cast<unsigned>(round)) % 3 * 1000; };
      const auto all = c.exchange(part_of(me, size(me), round));
      ASSERT_EQ(all.size(), nodes);
      for (std::uint32_t n = 0; n < nodes; ++n) EXPECT_EQ(all[n], part_of(n, size(n), round));
    }
    EXPECT_FALSE(c.watch(k_ms, -1));
    c.leave();
    done.fetch_add(1);
  });
  EXPECT_EQ(done.load(), static_cast<int>(nodes));
  EXPECT_FALSE(h.lost());
  for (std::uint32_t n = 0; n < nodes; ++n) EXPECT_EQ(h.at(n), presence::left);
}

TEST(control, parts_of_a_mebibyte_and_empty_ones_travel) {
  hub h(options_for(4));
  as_nodes(4, [&](std::uint32_t me) {
    control c(h.place(), identity_of(me, 4), k_long_ns);
    const auto none = c.exchange({});
    for (const auto& part : none) EXPECT_TRUE(part.empty());
    const auto all = c.exchange(part_of(me, std::size_t{1} << 20, 0));
    for (std::uint32_t n = 0; n < 4; ++n) EXPECT_EQ(all[n], part_of(n, std::size_t{1} << 20, 0));
    c.leave();
  });
}

TEST(control, a_part_beyond_the_bound_is_refused_here) {
  hub h(options_for(1));
  control c(h.place(), identity_of(0, 1), k_long_ns);
  const std::vector<std::byte> huge((std::size_t{16} << 20) + 1);
  EXPECT_THROW(c.exchange(huge), error);
  EXPECT_EQ(c.exchange({}).size(), 1U);  // and nothing is spoilt
  c.leave();
}

TEST(control, a_node_that_ends_is_announced_once_to_each) {
  hub h(options_for(3));
  auto in = all_in(h.place(), 3);
  in[1].reset();
  for (const std::uint32_t n : {0U, 2U}) {
    const auto heard = news(*in[n]);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->node, 1U);
    EXPECT_EQ(heard->signal, 0);
    EXPECT_TRUE(has(heard->why, "node 1 (host " + machine::host_name())) << heard->why;
    EXPECT_TRUE(has(heard->why, "has ended before its time")) << heard->why;
    EXPECT_TRUE(heard->why.starts_with(h.describe(1))) << heard->why;
  }
  in[2].reset();  // follows, and is not announced: the first loss is the one
  EXPECT_FALSE(news(*in[0], 100 * k_ms));
  EXPECT_EQ(h.lost()->node, 1U);
  EXPECT_THROW(in[0]->exchange({}), error);
}

TEST(control, an_exchange_ends_when_a_node_does) {
  hub h(options_for(3));
  auto in = all_in(h.place(), 3);
  std::array<std::string, 3> said;
  as_nodes(3, [&](std::uint32_t n) {
    if (n == 2) {
      in[2].reset();
      return;
    }
    try {
      in[n]->exchange({});
    } catch (const error& e) {
      said[n] = e.what();
      EXPECT_EQ(e.code(), errc::peer_lost);
    }
  });
  EXPECT_TRUE(has(said[0], "node 2 ")) << said[0];
  EXPECT_EQ(said[0], said[1]);
}

TEST(control, a_node_that_leaves_is_no_loss_but_for_those_who_wait_for_it) {
  hub h(options_for(3));
  auto in = all_in(h.place(), 3);
  in[1]->leave();
  in[1].reset();
  EXPECT_FALSE(news(*in[0], 50 * k_ms));
  try {
    in[0]->exchange({});
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_TRUE(has(e.what(), "has left while others wait for it")) << e.what();
  }
}

TEST(control, one_that_says_nothing_for_the_limit_is_lost) {
  hub_options o = options_for(3);
  o.silence_ns = o.start_ns = 1000 * k_ms;
  hub h(o);
  auto in = all_in(h.place(), 3);
  // Node 1 watched once, so its silence means something, and then never again.
  in[1]->watch(0, -1);
  std::array<std::optional<loss>, 3> heard;
  as_nodes(3, [&](std::uint32_t n) {
    if (n != 1) heard[n] = news(*in[n]);
  });
  for (const int n : {0, 2}) {
    ASSERT_TRUE(heard[n]);
    EXPECT_EQ(heard[n]->node, 1U);
    EXPECT_TRUE(has(heard[n]->why, "has said nothing for 1 s: stopped, or its link is cut")) << heard[n]->why;
  }
  // When it goes on it learns what became of it.
  const auto own = news(*in[1]);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->node, 1U);
}

// As a process that stops before another of its threads has watched.
TEST(control, one_that_has_only_promised_signs_of_life_is_lost_after_the_limit) {
  hub_options o = options_for(2);
  o.silence_ns = 1000 * k_ms;
  hub h(o);
  auto in = all_in(h.place(), 2);
  in[1]->live_regularly();
  const auto heard = news(*in[0]);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->node, 1U);
  EXPECT_TRUE(has(heard->why, "has said nothing for 1 s")) << heard->why;
}

TEST(control, nodes_that_watch_are_never_lost) {
  hub_options o = options_for(2);
  o.silence_ns = 1000 * k_ms;
  hub h(o);
  auto in = all_in(h.place(), 2);
  as_nodes(2, [&](std::uint32_t n) {
    EXPECT_FALSE(news(*in[n], 2500 * k_ms));
    in[n]->leave();
  });
  EXPECT_FALSE(h.lost());
}

TEST(control, before_it_watches_a_node_may_be_busy) {
  hub_options o = options_for(2);
  o.silence_ns = 50 * k_ms;
  hub h(o);
  auto in = all_in(h.place(), 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_FALSE(h.lost());
  as_nodes(2, [&](std::uint32_t n) { EXPECT_EQ(in[n]->exchange({}).size(), 2U); });
}

TEST(control, a_descriptor_wakes_the_watch) {
  hub h(options_for(1));
  control c(h.place(), identity_of(0, 1), k_long_ns);
  machine::wake_descriptor wake;
  std::thread other([&] { wake.wake(); });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(c.watch(k_long_ns, wake.descriptor()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  other.join();
  c.leave();
  EXPECT_FALSE(c.watch(k_ms, -1));
}

TEST(control, all_are_told_to_stop) {
  hub h(options_for(2));
  auto in = all_in(h.place(), 2);
  h.interrupt(15);
  for (auto& c : in) {
    const auto heard = news(*c);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->signal, 15);
  }
  EXPECT_EQ(h.lost()->signal, 15);
}

TEST(control, what_a_node_or_the_launcher_finds_out_is_announced_and_the_first_counts) {
  hub h(options_for(3));
  auto in = all_in(h.place(), 3);
  in[2]->announce_lost(1, "no route");
  for (auto& c : in) {
    const auto heard = news(*c);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->node, 1U);
    EXPECT_TRUE(has(heard->why, "cannot be reached by node 2 (")) << heard->why;
    EXPECT_TRUE(has(heard->why, ": no route")) << heard->why;
  }
  EXPECT_FALSE(h.announce_lost(0, "node 0 exited with status 3"));
  hub other(options_for(2));
  auto two = all_in(other.place(), 2);
  EXPECT_TRUE(other.announce_lost(0, "node 0 exited with status 3"));
  EXPECT_EQ(news(*two[1])->why, "node 0 exited with status 3");
}

TEST(control, a_hub_that_ends_early_is_a_loss_and_waits_for_those_who_leave) {
  auto h = std::make_unique<hub>(options_for(2));
  auto in = all_in(h->place(), 2);
  h.reset();
  for (auto& c : in) {
    const auto heard = news(*c);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->node, 0U) << "it ran in the process of node 0";
    EXPECT_TRUE(has(heard->why, "which ran the hub of this job, has ended before its time")) << heard->why;
  }

  hub_options o = options_for(2);
  o.linger_ns = k_long_ns;
  h = std::make_unique<hub>(o);
  in = all_in(h->place(), 2);
  in[0]->leave();
  std::thread late([&] {
    EXPECT_FALSE(news(*in[1], 100 * k_ms));
    in[1]->leave();
  });
  const auto begin = std::chrono::steady_clock::now();
  h.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  late.join();
}

TEST(control, a_hub_that_falls_silent_is_a_loss) {
  // A hub with an answer to everything until it is welcomed, and nothing from then on, is one whose process was stopped.
  hub_options o = options_for(1);
  o.silence_ns = 1000 * k_ms;
  auto h = std::make_unique<hub>(o);
  // A relay that stops relaying stands for the cut link.
  machine::socket door = machine::socket::listen("127.0.0.1", 0);
  std::atomic<bool> cut{false};
  std::atomic<bool> over{false};
  std::thread relay([&, &place = h->place()] {
    machine::poll_set ready;
    ready.add(door.descriptor(), true, false);
    if (!ready.wait(k_long_ns)) return;
    machine::socket inner;
    door.accept(inner);
    machine::socket outer = machine::socket::connect(place.host, place.port, k_long_ns);
    std::array<std::byte, 4096> room{};
    while (!over.load()) {
      ready.clear();
      ready.add(inner.descriptor(), true, false);
      ready.add(outer.descriptor(), true, false);
      if (cut.load() || !ready.wait(10 * k_ms)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      for (const auto& [from, to] : {std::pair{&inner, &outer}, std::pair{&outer, &inner}}) {
        const auto t = from->receive(room);
        if (t.bytes != 0) to->send(std::span(room).first(t.bytes));
      }
    }
  });
  hub_place through = h->place();
  through.port = machine::port_of(door.own_address());
  control c(through, identity_of(0, 1), k_long_ns);
  EXPECT_FALSE(news(c, 100 * k_ms));
  cut.store(true);
  const auto heard = news(c);
  ASSERT_TRUE(heard);
  EXPECT_TRUE(has(heard->why, "has said nothing for 1 s: stopped, or its link is cut")) << heard->why;
  over.store(true);
  relay.join();
}

}  // namespace
}  // namespace shoal::launch
