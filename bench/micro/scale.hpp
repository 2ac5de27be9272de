// SPDX-License-Identifier: Apache-2.0
// `shoal bench scale`: what nodes cost that a node knows and does not use: memory, an empty poll, a wait with nothing
// in flight, and an idle worker's look at its siblings, by the number of known nodes. Two nodes of one process, on the
// transport inproc, exchange commands; the others exist in the world's memory only.
// Who may call: the command's main thread. Guarantees: checks that the commands were executed and counts none that
// were not; a measurement uses one thread. Test: tests/unit/bench/scale_test.cpp.
#pragma once

#include <cstdint>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct scale_costs {
  double resident_bytes = 0;  // of a node's transport and ports, before its first command
  double used_bytes = 0;      // the same after an exchange with one node
  double poll_ns = 0;         // that finds nothing, while a buffer to the other node is in flight
  double wait_ns = 0;         // for all nodes, with nothing in flight
  double idle_ns = 0;         // a flush of nothing, and the look at siblings
  bool correct = false;
};

/// `seconds`: of each measurement of time.
scale_costs measure_scale(std::uint32_t nodes, unsigned workers, double seconds);

subcommand_body declare_scale(CLI::App& app);

}  // namespace shoal::bench
