// SPDX-License-Identifier: Apache-2.0
// The order in which this process executes collective calls that block inside the library. All processes agree on it
// (Skeen's total order multicast): each member proposes a number, and the maximum becomes the number of the call. Every
// process executes its calls in the order of these numbers. So two threads that make communicators at the same time do
// so in the same order in all processes, and no thread waits inside the library for a thread that waits for the lock.
// Who may call: any thread. Call propose() only when all members of the call are known to be in it: then fix() follows
// every proposal and waits only for messages of the members.
// Guarantees: numbers differ between calls (low half: the process). first() is true for at most one call at a time.
// Test: tests/unit/mpi_threads/total_order_test.cpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace shoal::mpi_threads {

class total_order {
public:
  /// `process`: a number unique to the process.
  explicit total_order(std::uint32_t process) : process_(process) {}

  /// Proposes a number for a call that this thread is about to make.
  std::int64_t propose();
  /// Sets the agreed number of the call for which this process proposed `proposed`.
  void fix(std::int64_t proposed, std::int64_t agreed);
  /// Whether the call with this number may be executed now.
  bool first(std::int64_t agreed) const;
  /// The call has ended or will not happen. `number`: its last known number.
  void remove(std::int64_t number);

private:
  struct pending {
    std::int64_t number;
    bool fixed;
  };
  const std::uint32_t process_;
  mutable std::mutex mutex_;
  std::int64_t clock_ = 0;
  std::vector<pending> pending_;
};

}  // namespace shoal::mpi_threads
