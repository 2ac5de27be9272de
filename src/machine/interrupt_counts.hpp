// SPDX-License-Identifier: Apache-2.0
// What anybody may know about interruptions, without privileges: how many interrupts and softirqs each processor has had
// since the machine's start, and the time that the host of a virtual machine took ("steal").
// Who may call: any thread; reads three files of /proc. Never switches tasks. Test:
// tests/unit/machine/interrupt_counts_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::machine {

struct interrupt_count {
  std::string name;                         // "Local timer interrupts", "virtio1-req.0", "softirq TIMER"
  std::vector<std::uint64_t> by_processor;  // by the system's number; processors that are off have 0
};

struct interrupt_counts {
  std::vector<interrupt_count> counts;
  std::vector<std::uint64_t> steal_ns;  // by processor

  static interrupt_counts now();
  /// What was added since `before`; names without a change are left out.
  interrupt_counts since(const interrupt_counts& before) const;
};

/// The texts of /proc/interrupts, /proc/softirqs and /proc/stat.
interrupt_counts parse_interrupt_counts(std::string_view interrupts, std::string_view softirqs, std::string_view stat,
                                        long ticks_per_second);

}  // namespace shoal::machine
