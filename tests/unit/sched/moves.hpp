// SPDX-License-Identifier: Apache-2.0
// For tests of tasks that may move.
#pragma once

#include <atomic>

#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal::sched {

/// The worker that runs the caller now: no two calls are one.
[[gnu::noinline]] inline unsigned worker_index() {
  asm volatile("" ::: "memory");
  return shoal::detail::worker_here().index;
}

/// Lets others run until all tasks of a test have come to wait.
inline void await(const std::atomic<int>& word, int value) {
  while (word.load() < value) yield();
}

}  // namespace shoal::sched
