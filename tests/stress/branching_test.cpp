// SPDX-License-Identifier: Apache-2.0
// Random graphs with conditions, parts, priorities and used objects against a serial interpreter
// (unit/sched/branching_program.hpp), several at once; and random flows with commutative accesses, with a detector of
// overlaps and by their final state (unit/sched/commutative_program.hpp). With 1 to 4 workers and bodies that yield.
// How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "sched/pool.hpp"
#include "shoal/random.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"
#include "unit/sched/branching_program.hpp"
#include "unit/sched/commutative_program.hpp"

namespace shoal::sched {
namespace {

bool run_branches(std::uint64_t seed) {
  xoshiro256ss random(seed);
  branching_program program(seed, 20 + static_cast<unsigned>(random.below(120)));
  for (int round = 0; round < 3; ++round)
    if (!program.runs_well()) return false;
  return true;
}

bool run_commutative(std::uint64_t seed) {
  xoshiro256ss random(seed);
  task_flow flow(random.below(2) == 0 ? 1 + random.below(64) : task_flow::k_most_unfinished);
  for (std::uint64_t i = 0; i < 3; ++i) {
    commutative_program program(splitmix64::at(seed, i), 50 + random.below(300), random.below(2) == 0);
    program.give_to(flow, random.below(2) == 0);
    flow.wait();
    if (!program.ended_well()) return false;
  }
  return true;
}

// Three at once, each with a seed of its own.
void play(bool (*one)(std::uint64_t seed)) {
  stress::play_rounds([&](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(4));
    options.most_stacks = std::size_t{1} << 14;
    options.spin_rounds = static_cast<unsigned>(random.below(50));
    pool p(options);
    std::atomic<unsigned> well{0};
    p.run([&] {
      task_group together;
      for (std::uint64_t i = 0; i < 3; ++i)
        together.run([&, i] { well += one(splitmix64::at(seed, 10 + i)) ? 1U : 0U; });
      together.wait();
    });
    ASSERT_EQ(well.load(), 3U);
    for (unsigned i = 0; i < p.size(); ++i) ASSERT_EQ(p.at(i).stacks_in_use(), 0U) << "worker " << i;
  });
}

TEST(branching_stress, graphs_give_the_interpreters_result) { play(run_branches); }

TEST(branching_stress, commutative_tasks_never_overlap) { play(run_commutative); }

}  // namespace
}  // namespace shoal::sched
