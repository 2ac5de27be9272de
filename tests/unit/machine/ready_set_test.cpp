// SPDX-License-Identifier: Apache-2.0
#include "machine/ready_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "machine/socket.hpp"

namespace shoal::machine {
namespace {

std::vector<std::uint64_t> tags_of(std::span<const ready_set::event> events) {
  std::vector<std::uint64_t> tags;
  for (const auto& e : events) tags.push_back(e.tag);
  std::ranges::sort(tags);
  return tags;
}

const std::array<std::byte, 1> k_byte{std::byte{1}};

TEST(ready_set, reports_what_is_ready_as_long_as_it_is) {
  ready_set set(8);
  std::vector<std::pair<socket, socket>> pairs;
  for (std::uint64_t i = 0; i < 5; ++i) {
    pairs.push_back(socket::pair());
    set.add(pairs.back().first.descriptor(), i, true, false);
  }
  EXPECT_TRUE(set.wait(0).empty());
  pairs[1].second.send(k_byte);
  pairs[3].second.send(k_byte);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(tags_of(set.wait(-1)), (std::vector<std::uint64_t>{1, 3}));
  std::array<std::byte, 4> room{};
  pairs[1].first.receive(room);
  const auto left = set.wait(-1);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].tag, 3U);
  EXPECT_TRUE(left[0].readable);
  EXPECT_FALSE(left[0].writable);
}

TEST(ready_set, reports_room_to_write_where_it_is_asked_for) {
  ready_set set(8);
  auto [ours, theirs] = socket::pair();
  set.add(ours.descriptor(), 7, true, false);
  EXPECT_TRUE(set.wait(0).empty());
  set.change(ours.descriptor(), 7, true, true);
  const auto got = set.wait(-1);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_TRUE(got[0].writable);
  EXPECT_FALSE(got[0].readable);
  set.change(ours.descriptor(), 7, false, false);
  theirs.send(k_byte);
  EXPECT_TRUE(set.wait(0).empty());
}

TEST(ready_set, an_end_is_readable_and_a_closed_descriptor_is_watched_no_more) {
  ready_set set(8);
  auto pair = socket::pair();
  set.add(pair.first.descriptor(), 7, true, false);
  pair.second.close();
  const auto got = set.wait(-1);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_TRUE(got[0].readable);
  pair.first.close();
  EXPECT_TRUE(set.wait(0).empty());
}

TEST(ready_set, gives_no_more_at_once_than_asked_and_forgets_none) {
  ready_set set(4);
  std::vector<std::pair<socket, socket>> pairs;
  for (std::uint64_t i = 0; i < 10; ++i) {
    pairs.push_back(socket::pair());
    set.add(pairs.back().first.descriptor(), i, true, false);
    pairs.back().second.send(k_byte);
  }
  std::vector<bool> seen(10);
  std::array<std::byte, 4> room{};
  for (std::size_t count = 0; count < 10;) {
    const auto got = set.wait(0);
    ASSERT_FALSE(got.empty());
    ASSERT_LE(got.size(), 4U);
    for (const auto& e : got) {
      EXPECT_FALSE(seen[e.tag]);
      seen[e.tag] = true;
      pairs[e.tag].first.receive(room);
      ++count;
    }
  }
  EXPECT_TRUE(set.wait(0).empty());
}

TEST(ready_set, wakes_a_waiting_thread) {
  ready_set set(4);
  auto pair = socket::pair();
  set.add(pair.first.descriptor(), 1, true, false);
  std::thread other([&] { pair.second.send(k_byte); });
  EXPECT_EQ(set.wait(20'000'000'000).size(), 1U);
  other.join();
}

}  // namespace
}  // namespace shoal::machine
