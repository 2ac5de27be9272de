// SPDX-License-Identifier: Apache-2.0
// Reads the memory of another process of this machine and user, in one copy.
// Who may call: any thread. Never switches tasks; the call takes as long as the copy. Linux may forbid it
// (kernel.yama.ptrace_scope, containers). Shown by tests/unit/machine/process_memory_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::machine {

/// False if the system refuses, or if not all of it is readable there.
bool read_process_memory(int pid, std::uint64_t address, std::span<std::byte> into) noexcept;
/// Lets processes that are no ancestors of this one read its memory, where the system asks for that.
void permit_memory_reads() noexcept;

}  // namespace shoal::machine
