// SPDX-License-Identifier: Apache-2.0
// Code of images that were loaded after the job started (plugins): before it travels for the first time, node 0 gives
// the image a number and every node binds the number to its own copy of the image.
// Who may call: tasks. Switches tasks, once per image and sending process; later calls are a search of the table.
// Guarantees: throws shoal::error, which names the library and the node, if a node has not loaded the same image.
// Cost: each sending node makes one call to node 0, which calls each node in turn.
// Shown by tests/cluster/launch_test.cpp.
#pragma once

#include <cstdint>

#include "remote/code.hpp"

namespace shoal::remote {

/// encode_body() and encode_plain() for functions of any image.
std::uint64_t encode_body_of_task(const detail::registered_body& b);
std::uint64_t encode_plain_of_task(plain_function function);

}  // namespace shoal::remote
