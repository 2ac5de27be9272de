// SPDX-License-Identifier: Apache-2.0
// Measures from outside how fairly threads enter an MPI library. It works for a library without our lock and with it.
// Only calls that return at once (requests) count: a thread inside such a call is a waiter, a thread that returns was
// an owner. A lock_meter computes the bias factors from these events.
// Who may call: any thread; of nested calls only the outermost counts. Only the first 64 threads of a package count.
// Each call costs two clock reads, a small lock and a read per known thread. The package of a thread is that of its
// first call. Test: tests/unit/mpi_threads/entry_meter_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "shoal/lock_meter.hpp"
#include "shoal/locks/package_map.hpp"
#include "shoal/locks/tas.hpp"

namespace shoal::mpi_threads {

class entry_meter {
public:
  static constexpr unsigned k_threads_per_package = 64;
  static constexpr unsigned k_none = ~0U;

  /// `here` returns the package of the calling thread, less than `packages`.
  entry_meter(unsigned packages, std::function<unsigned()> here);
  /// Uses the packages of this machine.
  entry_meter();

  void begins();
  void returned();
  /// Exact if no thread is in a call, else an estimate.
  lock_report report() const { return meter_.report(); }

private:
  explicit entry_meter(const package_map& packages);

  struct mine {
    const entry_meter* owner = nullptr;
    unsigned number = k_none, depth = 0;
  };
  static thread_local mine t_mine;

  mine& me();

  const std::function<unsigned()> here_;
  lock_meter meter_;
  tas_lock<> order_;  // orders the returning calls
  std::vector<std::atomic<unsigned>> known_;
};

/// Reports its own lifetime as a call to a meter, which may be null.
class entry {
public:
  explicit entry(entry_meter* meter) : meter_(meter) {
    if (meter_ != nullptr) [[unlikely]]
      meter_->begins();
  }
  ~entry() {
    if (meter_ != nullptr) [[unlikely]]
      meter_->returned();
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

private:
  entry_meter* const meter_;
};

}  // namespace shoal::mpi_threads
