// SPDX-License-Identifier: Apache-2.0
// Where the calling code is: the functions that have called each other. Who may call: any thread, on any stack. Never
// switches tasks. Names: symbols.hpp. Shown by tests/unit/machine/symbols_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::machine {

/// Addresses of code, the caller's first; at most 64.
std::vector<const void*> call_stack();

/// The same for a handler of signals: the functions around `interrupted`, which is the first, as addresses of the calls.
/// Returns how many. Before the first use prepare_call_stacks() loads what it needs.
std::size_t interrupted_call_stack(const void* interrupted, std::span<std::uint64_t> frames) noexcept;
void prepare_call_stacks();

}  // namespace shoal::machine
