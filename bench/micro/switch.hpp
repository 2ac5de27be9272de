// SPDX-License-Identifier: Apache-2.0
// `shoal bench switch`: the cost of a yield through the scheduler, with two and with many tasks of one worker, and for
// comparison Boost.Context's bare switch, measured alternately.
// Who may call: the command's main thread. Guarantees: counts and checks the turns of every task. Test:
// tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>

#include "bench/profiling.hpp"
#include "bench/subcommand.hpp"

namespace shoal::bench {

struct yield_result {
  double ns_per_yield = 0;
  bool correct = false;  // every task had all its turns
};

/// Runs `tasks` tasks on one worker; each yields `rounds` times.
yield_result measure_yield(unsigned tasks, std::uint64_t rounds, profile_collector* profiling = nullptr);

subcommand_body declare_switch(CLI::App& app);

}  // namespace shoal::bench
