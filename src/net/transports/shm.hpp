// SPDX-License-Identifier: Apache-2.0
// Processes of one machine, which map the same memory.
// Who may call: the thread that makes the node. Shown by tests/cluster/launch_test.cpp.
#pragma once

#include <cstddef>
#include <memory>

#include "net/ring_world.hpp"

namespace shoal::net {

/// `memory`: at least ring_layout::bytes(shape), zero at first, mapped by all nodes.
std::unique_ptr<transport> connect_shm(std::byte* memory, const ring_shape& shape, unsigned node);

}  // namespace shoal::net
