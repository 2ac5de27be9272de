// SPDX-License-Identifier: Apache-2.0
// Random programs of tasks with declared accesses against brute force (unit/sched/flow_program.hpp), several flows at
// once, and random graphs of tasks run again and again; with 1 to 4 workers, bodies that yield, small and large bounds.
// Every task must see exactly the versions of sequential order. How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/random.hpp"
#include "shoal/task_graph.hpp"
#include "stress/rounds.hpp"
#include "unit/sched/flow_program.hpp"

namespace shoal::sched {
namespace {

// A flow that runs programs one after the other; true if all ended well.
bool run_programs(std::uint64_t seed) {
  xoshiro256ss random(seed);
  task_flow flow(random.below(2) == 0 ? 1 + random.below(64) : task_flow::k_most_unfinished);
  for (std::uint64_t i = 0; i < 3; ++i) {
    flow_program program(splitmix64::at(seed, i), 50 + random.below(400), static_cast<region_style>(random.below(4)));
    program.give_to(flow, random.below(2) == 0);
    flow.wait();
    if (!program.ended_well()) return false;
  }
  return true;
}

// A graph whose tasks note in which run they were; each looks at those before it. True if all was in order.
bool run_graphs(std::uint64_t seed) {
  xoshiro256ss random(seed);
  const std::size_t tasks = 1 + random.below(300);
  std::vector<std::uint64_t> runs(tasks);
  std::atomic<bool> good{true};
  task_graph graph;
  std::vector<task_graph::handle> made;
  for (std::size_t i = 0; i < tasks; ++i) {
    std::vector<std::size_t> earlier;
    for (std::uint64_t n = i == 0 ? 0 : random.below(4); n > 0; --n) earlier.push_back(random.below(i));
    made.push_back(graph.add([&runs, &good, i, earlier, waits = random.below(8) == 0] {
      for (const std::size_t e : earlier)
        if (runs[e] != runs[i] + 1) good = false;
      if (waits) yield();
      ++runs[i];
    }));
    for (const std::size_t e : earlier) made[e].precedes(made[i]);
  }
  for (std::uint64_t round = 1; round <= 5; ++round) {
    graph.run();
    for (const std::uint64_t r : runs)
      if (r != round) return false;
  }
  return good;
}

TEST(dependences_stress, programs_see_sequential_versions) {
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
      for (std::uint64_t i = 0; i < 3; ++i) {
        together.run([&, i] { well += run_programs(splitmix64::at(seed, 10 + i)) ? 1U : 0U; });
        together.run([&, i] { well += run_graphs(splitmix64::at(seed, 20 + i)) ? 1U : 0U; });
      }
      together.wait();
    });
    ASSERT_EQ(well.load(), 6U);
    for (unsigned i = 0; i < p.size(); ++i) ASSERT_EQ(p.at(i).stacks_in_use(), 0U) << "worker " << i;
  });
}

}  // namespace
}  // namespace shoal::sched
