// SPDX-License-Identifier: Apache-2.0
// The end of a predecessor of a task of a graph. As successors.hpp has it, where it is model-checked; here the
// predecessors are known before the run, and the count is set again as soon as it is zero, so that the next run, or the
// next round of a loop, finds it ready.
// Who may call: the worker that has ended the predecessor.
// Tests: tests/unit/sched/task_graph_test.cpp, tests/stress/dependences_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/task_graph.hpp"

namespace shoal::sched {

/// True for the last predecessor; the caller sees the effects of all.
[[gnu::always_inline]] inline bool arrive(detail::graph_node& n, bool alone) noexcept {
  const std::int32_t left = n.left.load(std::memory_order_acquire);
  if (left != 1) {
    if (alone) {
      n.left.store(left - 1, std::memory_order_relaxed);
      return false;
    }
    if (n.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  }
  n.left.store(n.predecessors, std::memory_order_relaxed);  // reaches the next run by way of the strand's end
  return true;
}

}  // namespace shoal::sched
