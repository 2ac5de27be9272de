// SPDX-License-Identifier: Apache-2.0
// `shoal bench spawn`: Fibonacci numbers by tasks, without a cut-off: only spawning and joining. Two forms:
// parallel_invoke (`ns_per_spawn`), and a task_group with one child (`group_ns_per_spawn`).
// Who may call: the command's main thread. Guarantees: checks the result and the number of spawns. Test:
// tests/unit/bench/sched_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "bench/profiling.hpp"
#include "bench/subcommand.hpp"

namespace shoal::bench {

enum class spawn_form { invoke, group };

struct spawn_result {
  double ns_per_spawn = 0;
  std::uint64_t spawns = 0;
  std::uint64_t steals = 0;
  bool correct = false;
};

spawn_result measure_spawn(spawn_form form, unsigned workers, unsigned n, const std::string& steal = "random",
                           profile_collector* profiling = nullptr);

subcommand_body declare_spawn(CLI::App& app);

}  // namespace shoal::bench
