// SPDX-License-Identifier: Apache-2.0
// How fairly threads get into an MPI library, measured from outside, so that it can be told of the library by itself
// and of one behind a lock alike. Only calls count that return at once (requests): who is in one wants the library, who
// returns from one had it. In that order they are given to a lock_meter, whose bias factors are the result.
// Who may call: any thread; of calls within a call the outermost counts. Threads beyond the 64 first of a package are
// not counted. Costs two clocks, a small lock and a look at each known thread for a call. Packages: where a thread made
// its first call. Shown by tests/unit/mpi_threads/entry_meter_test.cpp.
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

  /// `here`: the package of the calling thread, less than `packages`.
  entry_meter(unsigned packages, std::function<unsigned()> here);
  /// As the machine has them.
  entry_meter();

  void begins();
  void returned();
  /// When nobody is in a call, or an estimate.
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
  tas_lock<> order_;  // of those that return
  std::vector<std::atomic<unsigned>> known_;
};

/// From its beginning to its end, of a meter that may be missing.
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
