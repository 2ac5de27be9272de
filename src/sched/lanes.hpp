// SPDX-License-Identifier: Apache-2.0
// Tasks with a priority other than normal that have not begun: a deque for each worker and priority, used first in,
// first out by all workers, and their number in the pool.
// Who may call: put() the worker that it names, the others any worker of the pool. Never switches tasks. put() may
// throw std::bad_alloc.
// Guarantees: each task is taken once; a worker takes its own tasks first, the oldest first. The counts may be too
// large for a moment, never too small: zero means that there is no task.
// Tests: tests/unit/sched/priority_test.cpp; the deque: tests/model/deque_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/detail/deque.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/priority.hpp"

namespace shoal::sched {

class lanes {
public:
  /// `urgent` counts the tasks of high priority.
  lanes(unsigned workers, std::atomic<unsigned>& urgent);

  void put(unsigned worker, priority p, detail::task& t);
  /// The oldest one of `worker`, or of another; nullptr if there is none.
  detail::task* take(unsigned worker, priority p) noexcept;
  bool any(priority p) const noexcept { return count(p).load(std::memory_order_relaxed) != 0; }

private:
  static constexpr std::size_t k_initial = 16;
  struct alignas(64) worker_lanes {
    lockfree::deque<detail::task> high{k_initial};
    lockfree::deque<detail::task> low{k_initial};
    lockfree::deque<detail::task> background{k_initial};
  };

  static lockfree::deque<detail::task>& lane(worker_lanes& of, priority p) noexcept;
  const std::atomic<unsigned>& count(priority p) const noexcept;

  std::vector<std::unique_ptr<worker_lanes>> workers_;
  std::atomic<unsigned>& high_;  // partners of all three: put() and take() of all workers
  alignas(64) std::atomic<unsigned> low_{0};
  std::atomic<unsigned> background_{0};
};

}  // namespace shoal::sched
