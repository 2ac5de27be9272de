// SPDX-License-Identifier: Apache-2.0
// The two shared words of a task with dependences: the number of unfinished predecessors, and the number of successors,
// which the end of the task closes. Nothing waits and nothing is locked.
// Who may call: successor_count: add(), written() and closed() the registering task, close() the worker that ran the
// task. arrival_count: expect() and give_up() the registering task, arrive() a worker that ends a predecessor.
// Guarantees: close() reports each successor added before it; the registering task learns of each later one and then
// sees the effects of the closed task. Exactly one arrival is the last one, and it sees the effects of all
// predecessors. `alone`: the pool has one worker; then there are no locked instructions. Tests:
// tests/model/dependence_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::sched {

template <class Atomics = lockfree::std_atomics>
class successor_count {
public:
  static constexpr std::uint32_t k_closed = std::uint32_t{1} << 31;

  /// Before anybody knows the task.
  void open() { word_.store(0, std::memory_order_relaxed); }
  /// In which slot the next successor belongs. Once closed: beyond those that the closer reads.
  std::uint32_t written() const { return word_.load(std::memory_order_relaxed) & ~k_closed; }
  /// Partner: close(). True: what the task did is visible.
  bool closed() const { return (word_.load(std::memory_order_acquire) & k_closed) != 0; }

  /// The slot written() has been filled. False: the task had ended, and its effects are visible.
  bool add(bool alone = false) {
    if (alone) {
      const std::uint32_t word = word_.load(std::memory_order_relaxed);
      if ((word & k_closed) != 0) return false;
      word_.store(word + 1, std::memory_order_relaxed);
      return true;
    }
    // Partner: close(); one of the two comes first. Additions to a closed word are never read.
    return (word_.fetch_add(1, std::memory_order_acq_rel) & k_closed) == 0;
  }

  /// The task has ended. Gives the number of slots that are filled; it stays in the word, so that the registering task
  /// writes into none of these any more.
  std::uint32_t close(bool alone = false) {
    if (alone) {
      const std::uint32_t word = word_.load(std::memory_order_relaxed);
      word_.store(word | k_closed, std::memory_order_relaxed);
      return word;
    }
    return word_.fetch_add(k_closed, std::memory_order_acq_rel);  // partner: add()
  }

private:
  typename Atomics::template atomic<std::uint32_t> word_{k_closed};
};

template <class Atomics = lockfree::std_atomics>
class arrival_count {
public:
  /// Before any predecessor knows the task.
  void expect(std::int32_t arrivals) { left_.store(arrivals, std::memory_order_relaxed); }

  /// A predecessor has ended. True for the last of those expected.
  bool arrive(bool alone = false) {
    // Partners: the other arrivals. If this is the last one, no other worker writes any more.
    const std::int32_t left = left_.load(std::memory_order_acquire);
    if (left == 1) return true;
    if (alone) {
      left_.store(left - 1, std::memory_order_relaxed);
      return false;
    }
    return left_.fetch_add(-1, std::memory_order_acq_rel) == 1;
  }

  /// So many of those expected will not come. True if that leaves none.
  bool give_up(std::int32_t arrivals) {
    return left_.fetch_add(-arrivals, std::memory_order_acq_rel) == arrivals;  // partner: arrive()
  }

private:
  typename Atomics::template atomic<std::int32_t> left_{0};
};

}  // namespace shoal::sched
