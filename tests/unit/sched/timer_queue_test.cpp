// SPDX-License-Identifier: Apache-2.0
#include "sched/timer_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "shoal/random.hpp"

namespace shoal::sched {
namespace {

void does_nothing(timer&) noexcept {}

TEST(timer_queue, says_when_the_first_is_due_and_gives_those_that_are) {
  timer_queue q;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.earliest_ns(), timer_queue::k_never);
  timer a(does_nothing), b(does_nothing), c(does_nothing);
  q.add(a, 30);
  q.add(b, 10);
  q.add(c, 20);
  EXPECT_EQ(q.earliest_ns(), 10U);
  EXPECT_EQ(q.take_due(9), nullptr);
  EXPECT_EQ(q.take_due(25), &b);
  EXPECT_FALSE(b.pending());
  EXPECT_EQ(q.take_due(25), &c);
  EXPECT_EQ(q.take_due(25), nullptr);
  EXPECT_TRUE(a.pending());
  q.remove(a);
  EXPECT_TRUE(q.empty());
  EXPECT_FALSE(a.pending());
}

// Against a sorted map, with additions, removals anywhere and time that passes.
TEST(timer_queue, keeps_the_order_of_random_timers) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    xoshiro256ss dice(seed);
    timer_queue q;
    std::deque<timer> timers;
    std::multimap<std::uint64_t, timer*> expected;
    std::map<timer*, std::uint64_t> due;
    std::uint64_t now = 0;
    for (int i = 0; i < 300; ++i) timers.emplace_back(does_nothing);
    for (int step = 0; step < 3000; ++step) {
      timer& t = timers[dice.below(timers.size())];
      if (!t.pending()) {
        const std::uint64_t at = now + dice.below(50);
        q.add(t, at);
        expected.emplace(at, &t);
        due[&t] = at;
      } else if (dice.below(3) == 0) {
        q.remove(t);
        auto [from, to] = expected.equal_range(due[&t]);
        while (from->second != &t) ++from;
        expected.erase(from);
      } else {
        now += dice.below(5);
        while (timer* const fired = q.take_due(now)) {
          ASSERT_FALSE(expected.empty());
          ASSERT_EQ(due[fired], expected.begin()->first);
          auto [from, to] = expected.equal_range(due[fired]);
          while (from != to && from->second != fired) ++from;
          ASSERT_NE(from, to);
          expected.erase(from);
        }
      }
      ASSERT_EQ(q.size(), expected.size());
      ASSERT_EQ(q.earliest_ns(), expected.empty() ? timer_queue::k_never : expected.begin()->first);
    }
  }
}

}  // namespace
}  // namespace shoal::sched
