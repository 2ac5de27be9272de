// SPDX-License-Identifier: Apache-2.0
// What base::rough_time counts, by the clock of an executor: one instruction where that is the machine's clock.
// Who may call: any thread of the executor, also on hot paths. Never switches tasks.
// Shown by tests/unit/sched/virtual_time_test.cpp.
#pragma once

#include <cstdint>

#include "base/rough_time.hpp"
#include "machine/executor.hpp"

namespace shoal::machine {

class rough_clock {
public:
  /// `by` outlives it.
  explicit rough_clock(executor& by) noexcept : executor_(&by), is_real_(by.has_real_clock()) {}

  bool is_real() const noexcept { return is_real_; }
  std::uint64_t now() const noexcept {
    if (is_real_) [[likely]]
      return base::rough_time::now();
    return executor_->now_ns() * base::rough_time::k_per_ns;
  }

private:
  executor* executor_;
  bool is_real_;
};

}  // namespace shoal::machine
