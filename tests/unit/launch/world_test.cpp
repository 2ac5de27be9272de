// SPDX-License-Identifier: Apache-2.0
#include "launch/world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "machine/memory_info.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr std::int64_t k_long_ns = 20'000'000'000;

class worlds : public testing::Test {
protected:
  // What join() of this node throws; "" if nothing.
  std::string join(world::identity me, std::int64_t timeout_ns = k_long_ns) {
    try {
      world(memory()).join(me, timeout_ns);
      return "";
    } catch (const error& e) {
      return e.what();
    }
  }
  std::byte* memory() { return reinterpret_cast<std::byte*>(words_.data()); }

  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(k_world_header_bytes / sizeof(std::uint64_t));
  world world_{memory()};
};

TEST_F(worlds, nodes_that_fit_together_wait_for_each_other) {
  std::string other;
  std::thread second([&] { other = join({1, 2, "code", "settings"}); });
  EXPECT_EQ(join({0, 2, "code", "settings"}), "");
  second.join();
  EXPECT_EQ(other, "");
  EXPECT_EQ(world_.at(1).state.load(), node_state::joined);
  world_.leave(1);
  EXPECT_EQ(world_.at(1).state.load(), node_state::left);
}

TEST_F(worlds, a_difference_is_named) {
  std::thread second([&] { join({1, 2, "code", "workers 2"}); });
  const std::string said = join({0, 2, "code", "workers 1"});
  second.join();
  EXPECT_NE(said.find("other settings"), std::string::npos) << said;
  EXPECT_NE(said.find("workers 2"), std::string::npos) << said;
}

TEST_F(worlds, nobody_joins_as_a_node_that_is_there_or_has_been) {
  EXPECT_EQ(join({0, 1, "code", "settings"}), "");
  const std::int32_t pid = world_.at(0).pid;
  EXPECT_NE(join({0, 1, "other", "settings"}).find("has been started already"), std::string::npos);
  world_.leave(0);
  EXPECT_NE(join({0, 1, "code", "settings"}).find("has been started already"), std::string::npos);
  EXPECT_EQ(world_.at(0).state.load(), node_state::left);
  EXPECT_EQ(world_.at(0).pid, pid);
}

TEST_F(worlds, who_does_not_come_is_named) {
  EXPECT_NE(join({0, 2, "code", "settings"}, 20'000'000).find("node 1 has not started"), std::string::npos);
}

TEST_F(worlds, a_loss_that_is_announced_wakes_those_who_wait_and_the_first_counts) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> said(2);
  std::vector<std::thread> waiting;
  for (std::uint32_t n = 0; n < 2; ++n) waiting.emplace_back([&, n] { said[n] = join({n, 4, "code", "settings"}); });
  for (std::uint32_t n = 0; n < 2; ++n)
    while (world_.at(n).state.load() != node_state::joined) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // asleep by now, most likely
  EXPECT_TRUE(world_.announce_lost(3));
  EXPECT_FALSE(world_.announce_lost(2));
  for (auto& t : waiting) t.join();
  EXPECT_EQ(world_.lost().load(), 4U);
  for (const std::string& s : said) EXPECT_NE(s.find("node 3 ended before the job began"), std::string::npos) << s;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));  // of the twenty that it would take
}

}  // namespace
}  // namespace shoal::launch
