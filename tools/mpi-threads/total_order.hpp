// SPDX-License-Identifier: Apache-2.0
// The order in which this process executes collective calls that block inside the library, agreed with the others
// (Skeen's total order multicast): each member proposes a number, the greatest is the call's, and every process
// gives the calls that it takes part in their turn by their numbers. So two threads that make communicators at the same
// time do so in the same order everywhere, and nobody waits inside the library for one who waits for the lock.
// Who may call: any thread. propose() only once all members of the call are known to be in it: then every proposal is
// followed by its fix() without waiting for anything but the members' messages.
// Guarantees: numbers differ between calls (low half: which process). first() is true for at most one call at a time.
// Shown by tests/unit/mpi_threads/total_order_test.cpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace shoal::mpi_threads {

class total_order {
public:
  /// `process`: a number that differs between processes.
  explicit total_order(std::uint32_t process) : process_(process) {}

  /// A number for a call that this thread is about to make.
  std::int64_t propose();
  /// The members agreed on `agreed` for the call that we had proposed `proposed` for.
  void fix(std::int64_t proposed, std::int64_t agreed);
  /// Whether the call with this number may be executed now.
  bool first(std::int64_t agreed) const;
  /// The call is over, or will not happen: `number` is what it was last known by.
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
