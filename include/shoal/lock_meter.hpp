// SPDX-License-Identifier: Apache-2.0
// Measures how a lock arbitrates: waiting times, hand-overs, starvation, and the bias factors: how much more often than
// under a fair arbiter the lock goes to the thread, or the package, that had it last. At each acquisition l the threads
// that wait are counted, the winner among them: T(l) of them, T(j,l) in the last owner's package j. Fair would be
// 1/T(l) and T(j,l)/T(l); a factor is how often it happened over the sum of those. Acquisitions without other waiters
// are left out. Any lock may be measured, of this library or not: asks() before it is asked for; got(), and later
// gives() before it is given back, with the lock held. measured_lock does that for locks of this library.
// Who may call: each thread with a number of its own, less than threads(); report() while no thread gets or has the
// lock: others may wait, and those waits count as starvation. A snapshot costs a load for each thread. Never switches
// tasks. Amer et al., "MPI+Threads: runtime contention and remedies" (2015). Shown by
// tests/unit/locks/lock_meter_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal {

struct lock_report {
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;  // of these, with others waiting: what the factors are about
  double bias_core = 0;         // 1: fair; NaN without contended acquisitions
  double bias_package = 0;
  double wait_p50_ns = 0;  // from asks() to got(); within 3 %
  double wait_p90_ns = 0;
  double wait_p99_ns = 0;
  double wait_max_ns = 0;
  double handover_p50_ns = 0;  // from gives(), while others wait, to got()
  double handover_p99_ns = 0;
  double longest_starvation_ns = 0;      // the longest wait, those that have not ended included
  std::uint64_t most_passed = 0;         // the most acquisitions by others during one wait
  std::vector<std::uint64_t> by_thread;  // acquisitions
};

class lock_meter {
public:
  /// The package of each thread: as it is, or as described.
  explicit lock_meter(std::vector<unsigned> package_of_thread);
  ~lock_meter();
  lock_meter(const lock_meter&) = delete;
  lock_meter& operator=(const lock_meter&) = delete;

  unsigned threads() const noexcept;

  void asks(unsigned thread) noexcept;
  void got(unsigned thread) noexcept;
  void gives(unsigned thread) noexcept;
  lock_report report() const;

  /// The same at a time that the caller says, in ns of any clock that never goes back.
  void asks(unsigned thread, std::uint64_t at_ns) noexcept;
  void got(unsigned thread, std::uint64_t at_ns) noexcept;
  void gives(unsigned thread, std::uint64_t at_ns) noexcept;
  lock_report report(std::uint64_t at_ns) const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A lock and its meter, for threads that know their numbers.
template <class Lock>
class measured_lock {
public:
  measured_lock(Lock& lock, lock_meter& meter) : lock_(lock), meter_(meter) {}

  void lock(unsigned thread, unsigned cls = 0) {
    meter_.asks(thread);
    lock_.lock(cls);
    meter_.got(thread);
  }
  void unlock(unsigned thread) {
    meter_.gives(thread);
    lock_.unlock();
  }

private:
  Lock& lock_;
  lock_meter& meter_;
};

}  // namespace shoal
