// SPDX-License-Identifier: Apache-2.0
// `shoal bench woken`: tasks that have all begun and wait at one latch, are woken together, and then compute. The time
// from the opening of the latch until all have ended, for ordinary tasks, which stay on the workers where they began, and
// for movable ones; beside it what the workers would take if each computed all the time.
// Who may call: the command's main thread. Guarantees: each task is checked to have run once.
// Shown by tests/unit/bench/sched_test.cpp.
#pragma once

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct woken_result {
  double tied_s = 0;
  double movable_s = 0;
  bool correct = false;
};

/// Each task computes for `task_us`.
woken_result measure_woken(unsigned workers, unsigned tasks, unsigned task_us);

subcommand_body declare_woken(CLI::App& app);

}  // namespace shoal::bench
