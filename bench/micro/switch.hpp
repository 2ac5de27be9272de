// SPDX-License-Identifier: Apache-2.0
// `shoal bench switch`: what a yield through the scheduler costs between two and between many tasks of one worker, and
// Boost.Context's bare switch beside it, alternately in one sitting.
// Who may call: the command's main thread. Guarantees: every task's turns are counted and checked.
// Shown by tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>

#include "bench/profiling.hpp"
#include "bench/subcommand.hpp"

namespace shoal::bench {

struct yield_result {
  double ns_per_yield = 0;
  bool correct = false;  // every task had all its turns
};

/// `tasks` tasks of one worker that yield `rounds` times each.
yield_result measure_yield(unsigned tasks, std::uint64_t rounds, profile_collector* profiling = nullptr);

subcommand_body declare_switch(CLI::App& app);

}  // namespace shoal::bench
