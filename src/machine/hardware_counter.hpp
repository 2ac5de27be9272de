// SPDX-License-Identifier: Apache-2.0
// Counts what the processor counts for the calling thread (perf_event_open): misses of the data TLB by loads.
// Who may call: the thread that made it. Never switches tasks.
// Guarantees: where the processor, the virtual machine or the kernel has no such counter, why_not() says so and count()
// is empty: it is never 0 by mistake. Only the program itself is counted, not the kernel.
// Shown by tests/unit/machine/hardware_counter_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/descriptor.hpp"

namespace shoal::machine {

class hardware_counter {
public:
  /// Misses of the data TLB by loads.
  static hardware_counter of_tlb_misses();

  /// Empty if there is a counter.
  const std::string& why_not() const noexcept { return why_not_; }
  /// Since it was made; if the processor had to share its counters, extrapolated. Empty: there is none, or it did not run.
  std::optional<std::uint64_t> count() const noexcept;

private:
  descriptor event_;
  std::string why_not_;
};

}  // namespace shoal::machine
