// SPDX-License-Identifier: Apache-2.0
// Where the calling code is: the functions that have called each other. Who may call: any thread, on any stack. Never
// switches tasks. Names: symbols.hpp. Shown by tests/unit/machine/symbols_test.cpp.
#pragma once

#include <vector>

namespace shoal::machine {

/// Addresses of code, the caller's first; at most 64.
std::vector<const void*> call_stack();

}  // namespace shoal::machine
