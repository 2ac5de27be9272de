// SPDX-License-Identifier: Apache-2.0
// Threads by the kernel's number, for diagnostics: the calling thread, whether a thread still exists, its name, its
// stack; its nice value.
// Who may call: any thread. thread_id() costs a load after the first call of a thread, and is right in a forked child
// too; the others ask the kernel. Never switches tasks. Shown by tests/unit/machine/thread_id_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal::machine {

/// Never 0.
std::uint32_t thread_id() noexcept;
/// Whether this process has such a thread.
bool thread_lives(std::uint32_t id) noexcept;
/// As pthread_setname_np(3) gave it; empty if there is no such thread any more.
std::string thread_name(std::uint32_t id);
/// The processor that the caller runs on at this moment; 0 if unknown.
unsigned current_processor() noexcept;
/// How willingly the calling thread gives processors to others, as nice(1) says it: 0 usually, at most 19.
int nice_value() noexcept;
/// False if the system refuses: a value below the present one needs a privilege.
bool set_nice_value(int value) noexcept;

/// For a thread on a stack that the system does not know; empty: it knows it.
void set_own_stack(std::span<const std::byte> stack) noexcept;
/// The calling thread's stack; empty for a process's first thread, whose stack grows on demand.
std::span<const std::byte> own_stack() noexcept;
/// The lowest byte of the calling thread's stack that it may use. Of a process's first thread, whose stack grows on
/// demand: half of what the limit allows below the caller's frame. Where it is not known: the caller's frame. Never null.
const std::byte* own_stack_bottom() noexcept;

}  // namespace shoal::machine
