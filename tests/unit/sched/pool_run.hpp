// SPDX-License-Identifier: Apache-2.0
// Runs a test's body as the main task of a pool.
#pragma once

#include <functional>

#include "sched/pool.hpp"
#include "unit/rounds.hpp"

namespace shoal::sched {

/// Calls nested so deep overflow a stack. The thread sanitizer takes megabytes of its own for each stack, so that with it
/// they overflow usual stacks only.
inline constexpr int k_deep = rounds(20'000, 1'000);

inline void run_pool(unsigned workers, const std::function<void()>& body, pool_hooks* above = nullptr) {
  pool_options options;
  options.workers = workers;
  options.most_stacks = std::size_t{1} << 14;
  pool p(options, above);
  p.run(body);
}

}  // namespace shoal::sched
