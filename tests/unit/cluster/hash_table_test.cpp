// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/hash_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "shoal/detail/hash_shard.hpp"
#include "shoal/hash.hpp"
#include "shoal/random.hpp"

namespace {

// Few different slots and tags, so that runs are long and wrap around.
struct poor_hash {
  std::uint64_t operator()(const std::string& s) const noexcept { return (shoal::hash<std::string>()(s) & 0x1f) << 16; }
  std::uint64_t operator()(int i) const noexcept { return static_cast<std::uint64_t>(i % 7 + 5) << 16; }
};

template <class Hash, class Key, class MakeKey>
void compare_with_map(unsigned seed, const MakeKey& make_key) {
  shoal::detail::hash_table<Key, std::unique_ptr<int>, Hash> table;
  std::map<Key, int> expected;
  shoal::xoshiro256ss random(seed);
  for (int step = 0; step < 20'000; ++step) {
    Key key = make_key(random.below(200));
    const std::uint64_t h = Hash()(key);
    switch (random.below(4)) {
      case 0:
      case 1: {
        const bool is_new = expected.emplace(key, step).second;
        const auto found = table.find_or_make(h, Key(key), [step] { return std::make_unique<int>(step); });
        ASSERT_EQ(found.second, is_new) << "seed " << seed;
        ASSERT_EQ(**found.first, expected.at(key));
        break;
      }
      case 2: ASSERT_EQ(table.erase(h, key), expected.erase(key) == 1) << "seed " << seed; break;
      default: {
        const auto* value = table.find(h, key);
        ASSERT_EQ(value != nullptr, expected.contains(key)) << "seed " << seed;
        if (value != nullptr) {
          ASSERT_EQ(**value, expected.at(key));
        }
      }
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  std::map<Key, int> visited;
  table.for_each([&visited](const auto& e) { EXPECT_TRUE(visited.emplace(e.key, *e.value).second); });
  EXPECT_EQ(visited, expected);
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.find(Hash()(make_key(0)), make_key(0)), nullptr);
}

TEST(hash_table, does_what_a_map_does) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto number = [](std::uint64_t i) { return static_cast<int>(i); };
    const auto text = [](std::uint64_t i) { return std::string(i % 40, 'x') + std::to_string(i); };
    compare_with_map<shoal::hash<int>, int>(seed, number);
    compare_with_map<poor_hash, int>(seed, number);
    compare_with_map<shoal::hash<std::string>, std::string>(seed, text);
    compare_with_map<poor_hash, std::string>(seed, text);
  }
}

TEST(hash_table, grows_only_as_far_as_reserved) {
  shoal::detail::hash_table<int, int, shoal::hash<int>> table;
  table.reserve(1000);
  const std::size_t bytes = table.bytes();
  for (int i = 0; i < 1000; ++i) table.find_or_make(shoal::hash<int>()(i), int{i}, [] { return 0; });
  EXPECT_EQ(table.bytes(), bytes);
  EXPECT_EQ(table.size(), 1000U);
}

TEST(hash_table, stays_as_it_was_if_a_value_cannot_be_made) {
  shoal::detail::hash_table<int, std::string, shoal::hash<int>> table;
  const auto refuse = []() -> std::string { throw 1; };
  EXPECT_THROW(table.find_or_make(shoal::hash<int>()(3), 3, refuse), int);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.find(shoal::hash<int>()(3), 3), nullptr);
}

TEST(hash, of_equal_keys_is_equal_and_of_others_differs) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.insert(shoal::hash<int>()(i));
  EXPECT_EQ(numbers.size(), 1000U);
  std::set<std::uint64_t> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.insert(shoal::hash<std::string>()(std::string(i, 'a')));
  EXPECT_EQ(texts.size(), 100U);
  using pair = std::pair<int, std::string>;
  EXPECT_EQ(shoal::hash<pair>()({1, "a"}), shoal::hash<pair>()({1, "a"}));
  EXPECT_NE(shoal::hash<pair>()({1, "a"}), shoal::hash<pair>()({2, "a"}));
}

// Two workers that take the same two locks, each in another order, would wait for each other.
TEST(hash_shard_death, one_access_inside_another_ends_the_program) {
  shoal::detail::hash_shard<int, int, shoal::hash<int>> first(1, 0);
  shoal::detail::hash_shard<int, int, shoal::hash<int>> second(1, 0);
  EXPECT_DEATH(first.with(0, [&](auto&) { second.with(0, [](auto&) {}); }),
               "bare verb of this container or of another");
  EXPECT_DEATH(first.with(0, [&](auto&) { first.with(1, [](auto&) {}); }), "begin the second access after the first");
}

}  // namespace
