// SPDX-License-Identifier: Apache-2.0
// Which processes run on the same machine, as far as memory can be shared: the same kernel, the same view of processes
// and of the network (so namespaces of one machine count as machines), the same user. And how one gets at memory of
// another: through the descriptors that the system shows of its processes.
// Who may call: any thread, at set-up. Never switches tasks. Shown by tests/unit/machine/neighbourhood_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "machine/segment.hpp"

namespace shoal::machine {

/// Equal for processes that may reach each other's memory.
std::string neighbourhood();

/// Opens a segment of a running neighbour; nothing if the system refuses, with the reason in `why`.
std::optional<segment> segment_of(int pid, int descriptor, std::string& why);

}  // namespace shoal::machine
