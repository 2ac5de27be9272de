// SPDX-License-Identifier: Apache-2.0
// The order in which each policy tries its victims, on three machines of the studies they come from: 4 packages of 6
// cores with L2 caches shared by pairs, 2 of 6 cores with 2 threads, 4 of 8 cores with 2 threads. Worker i is on core
// i; where threads share cores, the second threads follow after all first ones.
#include "shoal/steal_policy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/sched/scripted_view.hpp"

namespace shoal::sched {
namespace {

const worker_map& pairs_machine() {
  static const worker_map map = described("package:4 l3:1 l2:3 core:2 pu:1", 24);
  return map;
}
const worker_map& two_packages() {
  static const worker_map map = described("package:2 l3:1 l2:6 core:1 pu:2", 24);
  return map;
}
const worker_map& four_packages() {
  static const worker_map map = described("package:4 l3:1 l2:8 core:1 pu:2", 64);
  return map;
}

// begin, begin + 1, ..., end - 1, one after the other for each pair.
victims ranges(std::initializer_list<std::pair<unsigned, unsigned>> pieces) {
  victims all;
  for (const auto& [begin, end] : pieces)
    for (unsigned v = begin; v < end; ++v) all.push_back(v);
  return all;
}

victims times(unsigned count, const victims& some) {
  victims all;
  for (; count > 0; --count) all.insert(all.end(), some.begin(), some.end());
  return all;
}

victims operator+(victims a, const victims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A policy with its view, which it needs for as long as it lives.
struct made {
  made(const char* text, const worker_map& map, unsigned self)
      : view(map, self), policy(find_steal_policy(text)(view)) {}
  steal_policy* operator->() { return policy.get(); }
  steal_policy& operator*() { return *policy; }
  scripted_view view;
  std::unique_ptr<steal_policy> policy;
};

void expect_nearest(const char* text, const worker_map& map, unsigned self, const victims& sequence) {
  made p(text, map, self);
  EXPECT_EQ(drive(*p, 2 * sequence.size()), times(2, sequence)) << text << ", worker " << self;
  const std::set<unsigned> named(sequence.begin(), sequence.end());
  for (unsigned v = 0; v < map.workers(); ++v) {
    if (v != self) {
      EXPECT_EQ(p->reaches(v), named.contains(v)) << text << ", worker " << self << ", victim " << v;
    }
  }
}

TEST(steal_nearest, tries_near_ones_more_often) {
  for (const char* text : {"nearest", "nearest(50,3,1)"}) {
    expect_nearest(text, pairs_machine(), 0, times(50, {1}) + times(3, {2, 3, 4, 5}) + ranges({{6, 24}}));
    expect_nearest(text, pairs_machine(), 9, times(50, {8}) + times(3, {10, 11, 6, 7}) + ranges({{12, 24}, {0, 6}}));
    expect_nearest(text, two_packages(), 3,
                   times(50, {15}) + times(3, {4, 5, 12, 13, 14, 16, 17, 0, 1, 2}) + ranges({{6, 12}, {18, 24}}));
    expect_nearest(text, four_packages(), 40,
                   times(50, {8}) + times(3, ranges({{41, 48}, {9, 16}})) + ranges({{48, 64}, {0, 8}, {16, 40}}));
  }
  expect_nearest("nearest(2,1,2)", pairs_machine(), 23,
                 times(2, {22}) + victims{18, 19, 20, 21} + times(2, ranges({{0, 18}})));
}

TEST(steal_nearest, only_masters_cross_packages) {
  const char* const text = "nearest(50,3,1,masters)";
  expect_nearest(text, pairs_machine(), 6, times(50, {7}) + times(3, {8, 9, 10, 11}) + ranges({{12, 24}, {0, 6}}));
  expect_nearest(text, pairs_machine(), 9, times(50, {8}) + times(3, {10, 11, 6, 7}));
  expect_nearest(text, two_packages(), 18, times(50, {6}) + times(3, ranges({{19, 24}, {7, 12}})));
  expect_nearest(text, two_packages(), 6,
                 times(50, {18}) + times(3, ranges({{7, 12}, {19, 24}})) + ranges({{12, 18}, {0, 6}}));
  expect_nearest(text, four_packages(), 40, times(50, {8}) + times(3, ranges({{41, 48}, {9, 16}})));
  expect_nearest(text, four_packages(), 8,
                 times(50, {40}) + times(3, ranges({{9, 16}, {41, 48}})) + ranges({{16, 40}, {48, 64}, {0, 8}}));
}

TEST(steal_nearest, goes_back_to_the_nearest_after_a_steal_and_on_after_a_lost_race) {
  made p("nearest(2,1,1)", pairs_machine(), 0);
  const auto sixth_wins = [](std::size_t i, unsigned) { return i == 5 ? steal_result::won : steal_result::lost; };
  EXPECT_EQ(drive(*p, 10, sixth_wins), (victims{1, 1, 2, 3, 4, 5, 1, 1, 2, 3}));
}

TEST(steal_nearest, without_known_places_tries_all_in_turn) {
  const worker_map unknown(4, {});
  for (const char* text : {"nearest", "nearest(50,3,1,masters)"}) expect_nearest(text, unknown, 2, {3, 0, 1});
}

// What random_sweep should begin with, from the same seed.
unsigned random_start(xoshiro256ss& twin, unsigned workers, unsigned self) {
  const auto at = static_cast<unsigned>(twin.below(workers - 1));
  return at < self ? at : at + 1;
}

victims ring_from(unsigned start, unsigned workers, unsigned self) {
  victims all;
  for (unsigned i = 0; i < workers; ++i)
    if (const unsigned v = (start + i) % workers; v != self) all.push_back(v);
  return all;
}

TEST(steal_random, sweeps_over_all_from_a_random_one) {
  for (const auto* map : {&pairs_machine(), &two_packages(), &four_packages()}) {
    const unsigned n = map->workers();
    for (const unsigned self : {0U, 7U, n - 1}) {
      made p("random", *map, self);
      EXPECT_EQ(p->round(), 0U);
      xoshiro256ss twin(scripted_view::k_seed);
      for (int round = 0; round < 4; ++round)
        EXPECT_EQ(drive(*p, n - 1), ring_from(random_start(twin, n, self), n, self)) << self;
      // A lost race is tried again; a steal begins anew.
      const victims ring = ring_from(random_start(twin, n, self), n, self);
      const auto script = [](std::size_t i, unsigned) {
        return i == 1 ? steal_result::lost : i == 2 ? steal_result::won : steal_result::empty;
      };
      EXPECT_EQ(drive(*p, 3, script), (victims{ring[0], ring[1], ring[1]}));
      EXPECT_EQ(drive(*p, n - 1), ring_from(random_start(twin, n, self), n, self));
    }
  }
}

TEST(steal_sticky, begins_with_the_last_good_victim) {
  for (const auto* map : {&pairs_machine(), &two_packages(), &four_packages()}) {
    const unsigned n = map->workers();
    made p("sticky", *map, 5);
    xoshiro256ss twin(scripted_view::k_seed);
    const victims ring = ring_from(random_start(twin, n, 5), n, 5);
    const auto third_wins = [](std::size_t i, unsigned) { return i == 2 ? steal_result::won : steal_result::empty; };
    EXPECT_EQ(drive(*p, 3, third_wins), (victims{ring[0], ring[1], ring[2]}));
    const auto script = [](std::size_t i, unsigned) {
      return i < 2 ? steal_result::won : i == 2 ? steal_result::lost : steal_result::empty;
    };
    EXPECT_EQ(drive(*p, 4, script), times(4, {ring[2]}));  // won twice, lost a race, then empty
    EXPECT_EQ(drive(*p, n - 1), ring_from(random_start(twin, n, 5), n, 5));
  }
}

TEST(steal_loaded, takes_the_fullest) {
  for (const auto* map : {&pairs_machine(), &two_packages(), &four_packages()}) {
    made p("loaded", *map, 10);
    EXPECT_EQ(p->round(), 1U);
    EXPECT_EQ(drive(*p, 2), (victims{11, 11}));  // all equal: the first after self
    p.view.loads[10] = 100;                      // its own does not count
    p.view.loads[23] = p.view.loads[2] = 4;
    EXPECT_EQ(drive(*p, 1), (victims{23}));
    p.view.loads[3] = 5;
    EXPECT_EQ(drive(*p, 1), (victims{3}));
  }
}

TEST(steal_loaded_every, scans_once_in_a_while) {
  for (const auto* map : {&pairs_machine(), &two_packages(), &four_packages()}) {
    const unsigned n = map->workers();
    for (const auto& [text, every] : {std::pair{"loaded_every", 5U}, std::pair{"loaded_every(3)", 3U}}) {
      made p(text, *map, 1);
      p.view.loads[17] = 2;
      xoshiro256ss twin(scripted_view::k_seed);
      victims expected;
      for (unsigned i = 1; i <= 4 * every; ++i) expected.push_back(i % every == 0 ? 17 : random_start(twin, n, 1));
      EXPECT_EQ(drive(*p, 4 * every), expected);
      EXPECT_EQ(p.view.looks, 4 * (n - 1));
    }
    made always("loaded_every(1)", *map, 1);
    EXPECT_EQ(drive(*always, 3), (victims{2, 2, 2}));
  }
}

TEST(steal_sorted, goes_down_the_list_and_reads_it_anew) {
  for (const auto* map : {&pairs_machine(), &two_packages(), &four_packages()}) {
    made p("sorted", *map, 0);
    p.view.loads[20] = 9, p.view.loads[3] = p.view.loads[7] = 5;
    EXPECT_EQ(drive(*p, 1), (victims{20}));
    p.view.loads[20] = 0, p.view.loads[12] = 1;  // not seen before the tenth attempt is over
    EXPECT_EQ(drive(*p, 9), (victims{3, 7, 1, 2, 4, 5, 6, 8, 9}));
    EXPECT_EQ(p.view.looks, map->workers() - 1);
    EXPECT_EQ(drive(*p, 10), (victims{3, 7, 12, 1, 2, 4, 5, 6, 8, 9}));
    EXPECT_EQ(p.view.looks, 2 * (map->workers() - 1));
  }
}

TEST(steal_sorted, after_a_steal_stays_or_goes_back_to_the_head) {
  const auto third_wins = [](std::size_t i, unsigned) {
    return i == 2 ? steal_result::won : i == 3 ? steal_result::lost : steal_result::empty;
  };
  for (const auto& [text, expected] : {std::pair{"sorted(6,policy1)", victims{7, 1, 2, 2, 3, 4, 7}},
                                       std::pair{"sorted(6,policy2)", victims{7, 1, 2, 7, 1, 2, 7}}}) {
    made p(text, pairs_machine(), 0);
    p.view.loads[7] = 1;
    EXPECT_EQ(drive(*p, 7, third_wins), expected) << text;
  }
}

TEST(steal_sorted, of_a_package_looks_at_its_own_but_for_the_first_worker) {
  struct expectation {
    const worker_map& map;
    unsigned self;
    victims own;  // in turn
  };
  for (const expectation& e : {expectation{pairs_machine(), 9, {10, 11, 6, 7, 8}},
                               expectation{two_packages(), 18, ranges({{19, 24}, {6, 12}})},
                               expectation{four_packages(), 40, ranges({{41, 48}, {8, 16}})}}) {
    made slave("sorted(100,policy2,package)", e.map, e.self);
    slave.view.loads[0] = 50;  // elsewhere
    slave.view.loads[e.own.back()] = 1;
    victims expected{e.own.back()};
    expected.insert(expected.end(), e.own.begin(), e.own.end() - 1);
    EXPECT_EQ(drive(*slave, 2 * expected.size()), times(2, expected));
    EXPECT_EQ(slave.view.looks, e.own.size());
    EXPECT_FALSE(slave->reaches(0));
    EXPECT_TRUE(slave->reaches(e.own.front()));
    const unsigned first = e.map.first_in_package(1);
    made master("sorted(100,policy2,package)", e.map, first);
    master.view.loads[0] = 50;
    EXPECT_EQ(drive(*master, 2), (victims{0, first + 1}));
    EXPECT_TRUE(master->reaches(0));
  }
}

}  // namespace
}  // namespace shoal::sched
