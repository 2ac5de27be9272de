// SPDX-License-Identifier: Apache-2.0
// The hub of a job of very many nodes, which are connections of this process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bench/micro/light_nodes.hpp"
#include "hub_callers.hpp"
#include "launch/control_message.hpp"
#include "machine/process_limits.hpp"
#include "shoal/random.hpp"
#include "unit/rounds.hpp"

namespace shoal::launch {
namespace {

constexpr std::uint32_t k_many = rounds(1024U, 300U);
constexpr std::int64_t k_patience_ns = 120'000 * k_ms;  // sanitizers on a busy machine

bool may_have_many() { return machine::allow_descriptors(2 * k_many + 512) >= 2 * k_many + 512; }

hub_options many_options(std::uint32_t nodes) {
  hub_options o = options_for(nodes);
  o.silence_ns = o.start_ns = o.handshake_ns = k_patience_ns;
  return o;
}

std::vector<std::byte> many_part(std::uint32_t node, std::uint64_t round) {
  std::vector<std::byte> part(node % 7 == 0 ? 0 : 1 + (node * 31 + round) % 97);
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<std::byte>(node + 3 * i + round);
  return part;
}

// What one node has received is the part of each, in order and once.
void expect_parts(const bench::light_nodes::blocks& received, std::uint32_t nodes,
                  const std::function<std::vector<std::byte>(std::uint32_t)>& part_of) {
  std::uint32_t next = 0;
  for (const auto& payload : received) {
    const auto block = parts_block::parse(payload, nodes);
    ASSERT_TRUE(block);
    ASSERT_EQ(block->first(), next);
    bool equal = true;
    block->for_each([&](std::uint32_t node, std::span<const std::byte> part) {
      // By memcmp: a loop over hundreds of megabytes takes most of the test where little is optimised.
      const auto wanted = part_of(node);
      equal = equal && node == next++ && part.size() == wanted.size() &&
              (wanted.empty() || std::memcmp(part.data(), wanted.data(), wanted.size()) == 0);
    });
    EXPECT_TRUE(equal);
  }
  EXPECT_EQ(next, nodes);
}

TEST(many_nodes, all_are_let_in_and_every_one_gets_every_part) {
  if (!may_have_many()) GTEST_SKIP() << "fewer open descriptors are allowed than so many nodes in a process need";
  testing::internal::CaptureStderr();
  {
    hub h(many_options(k_many));
    bench::light_nodes nodes(h.place(), k_many, k_patience_ns);
    const auto none = nodes.exchange([](std::uint32_t) { return std::vector<std::byte>(); });
    ASSERT_EQ(none.size(), k_many);
    for (const auto& received : none) {
      ASSERT_EQ(received.size(), 1U) << "one block";
      EXPECT_LE(received.front().size(), 16U) << "its size does not depend on the number of nodes";
    }
    expect_parts(none.front(), k_many, [](std::uint32_t) { return std::vector<std::byte>(); });
    std::vector<std::uint32_t> order(k_many);
    for (std::uint32_t n = 0; n < k_many; ++n) order[n] = n;
    xoshiro256ss random(7);
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (std::uint32_t n = k_many; n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
      const auto all = nodes.exchange([&](std::uint32_t n) { return many_part(n, round); }, order);
      expect_parts(all.front(), k_many, [&](std::uint32_t n) { return many_part(n, round); });
      for (const auto& received : all) EXPECT_EQ(received, all.front());
    }
    nodes.leave();
    EXPECT_FALSE(h.lost());
    for (std::uint32_t n = 0; n < k_many; ++n) EXPECT_EQ(h.at(n), presence::left);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nobody was turned away";
}

TEST(many_nodes, parts_beyond_a_block_come_in_several) {
  constexpr std::uint32_t few = 48;
  hub h(many_options(few));
  bench::light_nodes nodes(h.place(), few, k_patience_ns);
  const auto part_of = [](std::uint32_t n) {
    return std::vector<std::byte>(n == 3 ? (std::size_t{2} << 20) : (std::size_t{100} << 10) + n,
                                  static_cast<std::byte>(n));
  };
  const auto all = nodes.exchange(part_of);
  EXPECT_GT(all.front().size(), 4U);
  for (const auto& received : all) expect_parts(received, few, part_of);
  nodes.leave();
  EXPECT_FALSE(h.lost());
}

TEST(many_nodes, a_loss_is_told_to_all_and_ends_the_exchange) {
  constexpr std::uint32_t nodes = 300;
  hub h(many_options(nodes));
  auto light = std::make_unique<bench::light_nodes>(h.place(), nodes, k_patience_ns);
  EXPECT_TRUE(h.announce_lost(7, "node 7 exited with status 3"));
  EXPECT_THROW(light->exchange([](std::uint32_t) { return std::vector<std::byte>(); }), error);
  light.reset();
  EXPECT_EQ(h.lost()->node, 7U);
}

TEST(many_nodes, a_hub_that_cannot_have_the_descriptors_says_so) {
  hub_options o = options_for(2'000'000'000);
  try {
    const hub h(o);
    ADD_FAILURE() << "so many are allowed here?";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::exhausted);
    EXPECT_TRUE(has(e.what(), "ulimit -Hn")) << e.what();
  }
}

}  // namespace
}  // namespace shoal::launch
