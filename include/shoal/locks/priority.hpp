// SPDX-License-Identifier: Apache-2.0
// Priority classes: threads of class 0 go before those of class 1, and so on; first-in, first-out within a class. It
// repeats the H/L/B construction: at each level the first thread of the higher class also acquires a barrier B, which
// excludes the lower classes; the last thread of the class releases it. Lower classes starve while threads of higher
// classes keep arriving: use them for polling. With three or more classes, one thread of each lower class may pass the
// barriers of the classes between before their threads arrive, and then compete with them.
// Who may call: any thread, or tasks with task_wait. A class beyond the last counts as the last. try_lock() uses class
// 0.
// Must outlive every unlock() that has begun. Amer et al., "MPI+Threads: runtime contention and remedies" (2015).
// Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include <algorithm>
#include <memory>

#include "shoal/locks/ticket.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics, std::size_t Bells = 8>
class priority_lock {
public:
  explicit priority_lock(unsigned classes = 2)
      : classes_(std::max(classes, 1U)), levels_(std::make_unique<level[]>(classes_)) {}
  priority_lock(const priority_lock&) = delete;
  priority_lock& operator=(const priority_lock&) = delete;

  void lock(unsigned cls = 0) {
    cls = std::min(cls, classes_ - 1);
    level& mine = levels_[cls];
    mine.turn.lock_part_of(this);
    if (cls + 1 < classes_ && !mine.keeps.read()) {
      mine.barrier.lock_part_of(this);
      mine.keeps.write(true);
    }
    for (unsigned above = cls; above-- > 0;) levels_[above].barrier.lock_part_of(this);
    holder_.write(cls);
  }

  bool try_lock() {
    level& mine = levels_[0];
    if (!mine.turn.try_lock()) return false;
    if (classes_ > 1 && !mine.keeps.read()) {
      if (!mine.barrier.try_lock()) {
        mine.turn.unlock();
        return false;
      }
      mine.keeps.write(true);
    }
    holder_.write(0);
    return true;
  }

  void unlock() {
    const unsigned cls = holder_.read();
    level& mine = levels_[cls];
    for (unsigned above = 0; above < cls; ++above) levels_[above].barrier.unlock();
    if (cls + 1 < classes_ && !mine.turn.has_waiters()) {  // a later thread acquires the barrier itself
      mine.keeps.write(false);
      mine.barrier.unlock();
    }
    mine.turn.unlock();
  }

private:
  template <class T>
  using plain = typename Atomics::template plain<T>;
  using ticket = ticket_lock<Wait, Atomics, Bells>;

  struct alignas(lockfree::k_cache_line_bytes) level {
    ticket turn;               // among threads of this class
    ticket barrier;            // between this class and all lower ones
    plain<bool> keeps{false};  // guarded by turn: this class holds the barrier
  };

  unsigned classes_;
  std::unique_ptr<level[]> levels_;
  plain<unsigned> holder_{0};  // the owner's class; guarded by the whole lock
};

}  // namespace shoal
