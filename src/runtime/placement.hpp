// SPDX-License-Identifier: Apache-2.0
// Which processors the workers of a node run on, so that the nodes of a machine take different ones.
// Who may call: the thread that makes the job. Shown by tests/cluster/settings_test.cpp.
#pragma once

#include "machine/topology.hpp"
#include "runtime/node.hpp"

namespace shoal::runtime {

/// A node among those of its machine.
struct machine_share {
  std::uint32_t index = 0;
  std::uint32_t nodes = 1;
};

/// Also the number of workers, if it is not chosen yet.
void place_workers(node_parts& parts, config& c, const machine::topology& machine, machine_share share);

}  // namespace shoal::runtime
