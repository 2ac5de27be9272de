// SPDX-License-Identifier: Apache-2.0
// Counts tasks that begin on one worker and end on any, and tells when all that have begun have ended. Each worker writes
// its own cell, with plain stores: a task costs no atomic addition and no cache line of others.
// Who may call: begin() and end() the cell's worker; all_ended() any thread. Never switches tasks.
// Guarantees: a task is counted in begin() before another worker can see it. Then all_ended() is exact:
// It reads the ends of all cells, then the beginnings. Let S be the tasks whose ends it has read. The beginnings of S, and
// those of all tasks that tasks in S have begun, happen before these ends, so it reads them too; and it reads those of
// tasks that its caller knows to have begun (the roots). If both sums are |S|, then S holds its children and the roots,
// hence all tasks: none is left that could begin another. (Counting as in Mattern, 1987, for threads.)
// That somebody sees it: each worker calls all_ended() under one lock after its last end(); the last one sees all.
// Tests: tests/unit/cluster/task_cells_test.cpp, tests/model/task_cells_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::detail {

template <class Atomics = lockfree::std_atomics>
class basic_task_cell {
public:
  void begin(std::uint64_t n = 1) {
    // Relaxed: whoever gets the task gets this with it.
    begun_.store(begun_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void end(std::uint64_t n = 1) {
    // Partner: all_ended(), which acquires with an end all that came before it.
    ended_.store(ended_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  /// cell(i): the i-th of `count` cells.
  template <class Cell>
  static bool all_ended(std::size_t count, const Cell& cell) {
    std::uint64_t ended = 0;
    for (std::size_t i = 0; i < count; ++i) ended += cell(i).ended_.load(std::memory_order_acquire);
    std::uint64_t begun = 0;
    for (std::size_t i = 0; i < count; ++i) begun += cell(i).begun_.load(std::memory_order_relaxed);
    return begun == ended;
  }

private:
  typename Atomics::template atomic<std::uint64_t> begun_{0};  // partners: the worker, all_ended()
  typename Atomics::template atomic<std::uint64_t> ended_{0};
};

using task_cell = basic_task_cell<>;

}  // namespace shoal::detail
