// SPDX-License-Identifier: Apache-2.0
// What a node's memory is used for (shoal/memory_use.hpp): the ledger's figures, and those that the pools, stacks and
// transports of the node keep anyway.
// Who may call: any thread while the node lives. Reads files of /proc: milliseconds. Never switches tasks.
// Test: tests/cluster/memory_use_test.cpp.
#pragma once

#include "shoal/memory_use.hpp"

namespace shoal::sched {
class pool;
}
namespace shoal::remote {
class node_ports;
}

namespace shoal::array {

class node_memory;

/// Of a pool without a job: no `memory`, no `ports`. `of_process`: with what the process has for all its nodes.
memory_usage survey(sched::pool& pool, const node_memory* memory, const remote::node_ports* ports, bool of_process);

}  // namespace shoal::array
