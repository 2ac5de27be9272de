// SPDX-License-Identifier: Apache-2.0
// Measures the arbitration of a lock: waiting times, hand-overs, starvation, and bias factors. A bias factor tells how
// much more often than with a fair lock the last owner (or its package) acquires the lock again. At acquisition l, T(l)
// threads wait, including the winner, and T(j,l) of them are in the last owner's package j. The fair probabilities are
// 1/T(l) and T(j,l)/T(l); a factor is the number of repetitions divided by the sum of these probabilities. Acquisitions
// without other waiters do not count. Any lock can be measured: call asks() before the acquisition, got() after it, and
// gives() before the release. measured_lock does so for locks of this library.
// Who may call: each thread with its own number, less than threads(); report() while no thread acquires or holds the
// lock (waiters are allowed and count as starving). A snapshot costs a load per thread. Never switches tasks. Amer et
// al., "MPI+Threads: runtime contention and remedies" (2015). Test: tests/unit/locks/lock_meter_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal {

struct lock_report {
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;  // acquisitions with other waiters; the bias factors use these
  double bias_core = 0;         // 1: fair; NaN without contended acquisitions
  double bias_package = 0;
  double wait_p50_ns = 0;  // from asks() to got(); within 3 %
  double wait_p90_ns = 0;
  double wait_p99_ns = 0;
  double wait_max_ns = 0;
  double handover_p50_ns = 0;  // from gives(), while others wait, to got()
  double handover_p99_ns = 0;
  double longest_starvation_ns = 0;      // the longest wait, including waits that have not ended
  std::uint64_t most_passed = 0;         // the largest number of acquisitions by other threads during one wait
  std::vector<std::uint64_t> by_thread;  // acquisitions
};

class lock_meter {
public:
  /// The package of each thread; real or simulated.
  explicit lock_meter(std::vector<unsigned> package_of_thread);
  ~lock_meter();
  lock_meter(const lock_meter&) = delete;
  lock_meter& operator=(const lock_meter&) = delete;

  unsigned threads() const noexcept;

  void asks(unsigned thread) noexcept;
  void got(unsigned thread) noexcept;
  void gives(unsigned thread) noexcept;
  lock_report report() const;

  /// The same, with a time given by the caller, in ns of any monotonic clock.
  void asks(unsigned thread, std::uint64_t at_ns) noexcept;
  void got(unsigned thread, std::uint64_t at_ns) noexcept;
  void gives(unsigned thread, std::uint64_t at_ns) noexcept;
  lock_report report(std::uint64_t at_ns) const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A lock with its meter, for threads that know their numbers.
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
