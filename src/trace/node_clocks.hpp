// SPDX-License-Identifier: Apache-2.0
// The clocks of the nodes of a job on one line of time.
// Who may call: any thread. Never switches tasks. Cost: linear in the events. Test: tests/unit/trace/timeline_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace_file.hpp"

namespace shoal::trace {

/// A clock of a node, as nanoseconds on the first machine's raw clock.
struct node_clock {
  double ns_per_tick;
  double at_begin;  // ns
  std::uint64_t begin_ticks;
  double shift = 0;

  double ns(std::uint64_t ticks) const {
    return at_begin + shift + static_cast<double>(static_cast<std::int64_t>(ticks - begin_ticks)) * ns_per_tick;
  }
};

/// By node, of which there is at least one. Nodes of one machine share a clock; those of other machines are shifted so that no message arrives before it
/// was sent.
std::vector<node_clock> aligned_clocks(const std::vector<node_trace>& nodes);

}  // namespace shoal::trace
