// SPDX-License-Identifier: Apache-2.0
// A cohort lock over packages (or NUMA nodes): one ticket lock per package, and one among the packages. A package keeps
// the latter while its own threads wait, for at most `bound` hand-overs in a row. So the guarded data stays in the
// caches of a package. First-in, first-out within a package and among packages.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored. Must
// outlive every unlock() that has begun. Each lock() asks for the caller's package (package_map.hpp).
// Dice, Marathe & Shavit, "Lock cohorting" (2012). Test: tests/unit/locks/kinds_test.cpp, model:
// tests/model/locks_test.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "shoal/locks/package_map.hpp"
#include "shoal/locks/ticket.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics, std::size_t Bells = 8>
class hierarchical_lock {
public:
  static constexpr unsigned k_bound = 64;

  explicit hierarchical_lock(package_map packages = {}, unsigned bound = k_bound)
      : map_(std::move(packages)),
        bound_(bound),
        count_(std::max(map_.count, 1U)),
        packages_(std::make_unique<package[]>(count_)) {}
  hierarchical_lock(const hierarchical_lock&) = delete;
  hierarchical_lock& operator=(const hierarchical_lock&) = delete;

  void lock(unsigned = 0) {
    package& mine = here();
    mine.turn.lock_part_of(this);
    if (!mine.keeps.read()) {
      all_.lock_part_of(this);
      mine.keeps.write(true);
    }
    holder_.write(&mine);
  }

  bool try_lock() {
    package& mine = here();
    if (!mine.turn.try_lock()) return false;
    if (!mine.keeps.read()) {
      if (!all_.try_lock()) {
        mine.turn.unlock();
        return false;
      }
      mine.keeps.write(true);
    }
    holder_.write(&mine);
    return true;
  }

  void unlock() {
    package& mine = *holder_.read();
    const unsigned passed = mine.passed.read();
    if (passed < bound_ && mine.turn.has_waiters()) {
      mine.passed.write(passed + 1);
    } else {
      mine.passed.write(0);
      mine.keeps.write(false);
      all_.unlock();
    }
    mine.turn.unlock();
  }

private:
  template <class T>
  using plain = typename Atomics::template plain<T>;
  using ticket = ticket_lock<Wait, Atomics, Bells>;

  struct alignas(lockfree::k_cache_line_bytes) package {
    ticket turn;
    plain<bool> keeps{false};   // guarded by turn: this package holds `all_`
    plain<unsigned> passed{0};  // guarded by turn: hand-overs in a row
  };

  package& here() { return packages_[std::min(map_.package(), count_ - 1)]; }

  package_map map_;
  unsigned bound_;
  unsigned count_;
  std::unique_ptr<package[]> packages_;
  ticket all_;  // among packages; acquired and released by different threads
  plain<package*> holder_{
      nullptr};  // guarded by the whole lock: the owner's package at lock(); the owner may have moved since
};

}  // namespace shoal
