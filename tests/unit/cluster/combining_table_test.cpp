// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/combining_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "shoal/hash.hpp"
#include "shoal/random.hpp"

namespace {

using shoal::detail::combined;

template <class Key>
using table_of = shoal::detail::combining_table<Key, shoal::hash<Key>, 8>;

/// Adds keys to a table whose sink refuses now and then, and writes in between: nothing may be lost or counted twice.
template <class Key, class MakeKey>
void compare_with_map(std::uint64_t seed, std::uint64_t keys, const MakeKey& make_key) {
  table_of<Key> table;
  std::map<Key, std::uint64_t> added;
  std::map<Key, std::uint64_t> taken;
  shoal::xoshiro256ss random(seed);
  unsigned room = 0;
  const auto sink = [&](std::uint64_t hash, Key& key, std::uint64_t count) {
    EXPECT_EQ(hash, shoal::hash<Key>()(key));
    EXPECT_NE(count, 0U);
    if (room == 0) return false;
    --room;
    taken[std::move(key)] += count;
    return true;
  };
  for (int step = 0; step < 20'000; ++step) {
    if (random.below(4) == 0) room = static_cast<unsigned>(random.below(8));
    if (random.below(8) == 0) {
      table.write(sink);
    } else {
      const Key key = make_key(random.below(keys));
      const std::uint64_t count = 1 + random.below(3);
      const combined outcome = table.add(shoal::hash<Key>()(key), key, count, sink);
      added[key] += count;
      if (outcome == combined::refused) {
        EXPECT_EQ(room, 0U);
        taken[key] += count;
      }
    }
  }
  room = ~0U;
  while (!table.empty()) EXPECT_TRUE(table.write(sink));
  EXPECT_EQ(taken, added) << "seed " << seed;
}

TEST(combining_table, loses_nothing_and_counts_nothing_twice) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const std::uint64_t keys : {3, 10, 100}) {
      compare_with_map<std::uint64_t>(seed, keys, [](std::uint64_t i) { return i; });
      compare_with_map<std::string>(seed, keys, [](std::uint64_t i) { return std::string(i % 30, 'x') + "k"; });
    }
  }
}

TEST(combining_table, a_write_that_was_refused_ends_with_what_was_there) {
  table_of<std::uint64_t> table;
  std::map<std::uint64_t, std::uint64_t> taken;
  unsigned room = 0;
  const auto sink = [&](std::uint64_t, std::uint64_t& key, std::uint64_t count) {
    if (room == 0) return false;
    --room;
    taken[key] += count;
    return true;
  };
  const auto add = [&](std::uint64_t key) { return table.add(shoal::hash<std::uint64_t>()(key), key, 1, sink); };
  std::uint64_t entered = 0;
  for (std::uint64_t key = 0; entered < 4; ++key) entered += add(key) == combined::entered ? 1U : 0U;
  room = 2;
  EXPECT_FALSE(table.write(sink));
  // Others go on adding between the parts of the write: it ends nevertheless.
  unsigned parts = 1;
  for (;; ++parts) {
    for (std::uint64_t key = 100; key < 120; ++key) add(key);
    room = 1;
    if (table.write(sink)) break;
    ASSERT_LT(parts, 10U);
  }
  for (std::uint64_t key = 0; key < 4; ++key) EXPECT_LE(taken[key], 1U);
  EXPECT_FALSE(table.empty());
  room = 100;
  EXPECT_TRUE(table.write(sink));
  EXPECT_TRUE(table.empty());
}

TEST(combining_table, frequent_keys_stay) {
  table_of<std::uint64_t> table;
  std::uint64_t sent_hot = 0;
  const auto sink = [&](std::uint64_t, std::uint64_t& key, std::uint64_t) {
    sent_hot += key == 0 ? 1 : 0;
    return true;
  };
  shoal::xoshiro256ss random(1);
  const auto add = [&](std::uint64_t key) { table.add(shoal::hash<std::uint64_t>()(key), key, 1, sink); };
  add(0);
  add(0);
  for (int i = 0; i < 10'000; ++i) {
    add(0);
    add(1 + random.below(1'000'000));
  }
  EXPECT_EQ(sent_hot, 0U);
}

}  // namespace
