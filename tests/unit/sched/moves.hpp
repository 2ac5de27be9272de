// SPDX-License-Identifier: Apache-2.0
// For tests of tasks that may move.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>

#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

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

/// Tests on pools of few and of many workers.
class on_workers : public testing::TestWithParam<unsigned> {
protected:
  template <class F>
  void run(F&& f) const {
    run_pool(GetParam(), std::forward<F>(f));
  }
};

inline auto one_two_or_four_workers() { return testing::Values(1U, 2U, 4U); }
inline std::string name_of_workers(const testing::TestParamInfo<unsigned>& given) {
  return std::to_string(given.param) + "_workers";
}

}  // namespace shoal::sched
