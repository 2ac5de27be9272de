// SPDX-License-Identifier: Apache-2.0
// Whom the map gives, and when it gives nobody; one thread plays all parts.
#include "lockfree/sleeper_map.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lockfree/doorbell.hpp"

namespace shoal::lockfree {
namespace {

constexpr unsigned k_nobody = sleeper_map<>::k_nobody;

// Worker `slot` parks; `during` happens while it sleeps. Gives whether it searches afterwards.
template <class During>
bool park(sleeper_map<>& map, unsigned slot, bool searching, const During& during, int* fences = nullptr) {
  doorbell<> bell;
  return map.park(
      slot, searching, bell, [&] { fences != nullptr ? ++*fences : 0; }, [](bool) { return false; }, during);
}

TEST(sleeper_map, gives_nobody_while_all_are_awake) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 1, true);
  EXPECT_FALSE(sign.on());
  EXPECT_EQ(map.wake_one(0), k_nobody);
}

TEST(sleeper_map, one_publisher_wakes_and_the_searcher_wakes_the_next) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 1, true);
  const bool first = park(map, 3, false, [&] {
    const bool second = park(map, 5, false, [&] {
      EXPECT_TRUE(sign.on());
      EXPECT_EQ(map.wake_one(4), 5U);  // the next one behind slot 4
      EXPECT_FALSE(sign.on());
      EXPECT_EQ(map.wake_one(4), k_nobody);  // somebody searches
    });
    EXPECT_TRUE(second);
    EXPECT_EQ(map.hand_on(5), 3U);
    EXPECT_FALSE(sign.on());
  });
  EXPECT_TRUE(first);
  EXPECT_EQ(map.hand_on(3), k_nobody);  // all are awake
  EXPECT_FALSE(sign.on());
}

TEST(sleeper_map, only_who_turns_the_sign_on_fences) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 2, true);
  int fences = 0;
  bool taken = false;
  park(
      map, 0, false,
      [&] {
        EXPECT_EQ(fences, 1);
        taken = !park(
            map, 70, false, [&] { EXPECT_EQ(map.wake_one(0), 0U); }, &fences);
        EXPECT_EQ(fences, 1);  // the sign was on
        EXPECT_FALSE(sign.on());
      },
      &fences);
  EXPECT_TRUE(taken);
  // Worker 0 searches, finds nothing and sleeps again.
  park(
      map, 0, true, [&] { EXPECT_TRUE(sign.on()); }, &fences);
  EXPECT_EQ(fences, 2);
  // Parks again and again without being taken: the sign stays on.
  const int before = fences;
  for (int i = 0; i < 5; ++i)
    park(
        map, 1, false, [] {}, &fences);
  EXPECT_EQ(fences, before);
}

TEST(sleeper_map, finds_sleepers_in_all_groups_the_nearest_group_first) {
  wake_sign<> sign;
  sleeper_map<> map(sign, sleeper_map<>::k_most_groups, true);
  std::vector<unsigned> order;
  park(map, 1, false, [&] {
    park(map, 1000, false, [&] {
      park(map, 2047, false, [&] {
        order.push_back(map.wake_one(990));
        order.push_back(map.hand_on(990));
        order.push_back(map.hand_on(2000));
      });
    });
  });
  EXPECT_EQ(order, (std::vector<unsigned>{1000, 2047, 1}));
}

TEST(sleeper_map, a_sign_without_sleepers_is_turned_off) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 1, true);
  EXPECT_FALSE(park(map, 2, false, [] {}));
  EXPECT_TRUE(sign.on());
  EXPECT_EQ(map.wake_one(0), k_nobody);
  EXPECT_FALSE(sign.on());
}

TEST(sleeper_map, with_plenty_of_work_one_searcher_becomes_two) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 1, true);
  park(map, 1, false, [&] {
    park(map, 2, false, [&] {
      park(map, 3, false, [&] {
        EXPECT_EQ(map.wake_one(0), 1U);
        EXPECT_EQ(map.hand_on(1), 2U);
        EXPECT_EQ(map.wake_another(1), 3U);
        EXPECT_FALSE(sign.on());
      });
    });
  });
}

TEST(sleeper_map, without_searches_each_publisher_takes_one_that_may) {
  wake_sign<> sign;
  sleeper_map<> map(sign, 1, false);
  int fences = 0;
  park(
      map, 1, false,
      [&] {
        EXPECT_FALSE(park(
            map, 2, false,
            [&] {
              EXPECT_EQ(fences, 2);
              EXPECT_TRUE(sign.on());
              EXPECT_EQ(map.take_one_of(1, [](unsigned slot) { return slot == 2; }), 2U);
              EXPECT_EQ(map.take_one_of(1, [](unsigned slot) { return slot == 2; }), k_nobody);
              EXPECT_TRUE(sign.on());
              EXPECT_EQ(map.take_one_of(1, [](unsigned) { return true; }), 1U);
            },
            &fences));
      },
      &fences);
  EXPECT_FALSE(sign.on());
}

}  // namespace
}  // namespace shoal::lockfree
