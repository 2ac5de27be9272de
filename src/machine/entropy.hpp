// SPDX-License-Identifier: Apache-2.0
// Unpredictable random bytes, for secrets; pseudo-random numbers are in shoal/random.hpp. Who may call: any
// thread, at set-up. Blocks only while the machine boots. Never switches tasks. Shown by
// tests/unit/machine/entropy_test.cpp.
#pragma once

#include <cstddef>
#include <span>

namespace shoal::machine {

/// Throws if the system has none.
void fill_random(std::span<std::byte> bytes);

}  // namespace shoal::machine
