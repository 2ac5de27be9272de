// SPDX-License-Identifier: Apache-2.0
// The sizes of memory: pages, the machine, the control group; and the error for requests beyond them.
// Who may call: any thread, at set-up and when an array is allocated (it reads files). Never switches tasks.
// Guarantees: require_memory() throws errc::out_of_memory with a message that has the request, and the limits of the
// machine and of the control group. Another process may still take the memory a moment later: on Linux a process
// reserves memory only by touching it, which segment::commit() and huge_buffer do at once.
// Shown by tests/unit/machine/memory_info_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "machine/control_group.hpp"

namespace shoal::machine {

inline constexpr std::size_t k_huge_page_bytes = std::size_t{2} << 20;

enum class page_kind { small, huge };

/// The machine's ordinary page: 4096 on most.
std::size_t page_size() noexcept;

inline constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
  return (bytes + multiple - 1) / multiple * multiple;
}
inline constexpr std::size_t round_down(std::size_t bytes, std::size_t multiple) noexcept {
  return bytes / multiple * multiple;
}

struct memory_status {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // what could be taken without swapping
  memory_group group;

  /// What may be taken now: the smaller of the machine's and the control group's, less a margin for other processes.
  std::uint64_t usable_bytes() const noexcept;
};

memory_status memory_info();

/// Throws errc::out_of_memory unless `bytes` can be taken now. `what` begins the message: "array 'table'".
void require_memory(std::uint64_t bytes, std::string_view what);
void require_memory(std::uint64_t bytes, std::string_view what, const memory_status& status);

/// "1.5 GiB", "24.0 GiB", "512 B".
std::string describe_bytes(std::uint64_t bytes);

/// The limit of this process's address space (ulimit -v), or k_no_limit.
std::uint64_t address_space_limit() noexcept;

/// vm.overcommit_memory: 0, 1, 2 (strict); -1: not known. Takes no memory.
int overcommit_mode() noexcept;

/// The limits on address space in force, and what to do; ends the message of a refused reservation.
std::string describe_address_space_limits();

/// What may be the reason if a library finds no memory to share with other processes, and what to do: a small /dev/shm,
/// or limits on address space. Empty if neither is small.
std::string describe_scarce_shared_memory();

}  // namespace shoal::machine
