// SPDX-License-Identifier: Apache-2.0
// How much memory there is: pages, the machine, the control group; and the refusal when more is asked for than that.
// Who may call: any thread, at set-up and when an array is allocated (it reads files). Never switches tasks.
// Guarantees: require_memory() throws errc::out_of_memory with a sentence that names what was asked for, what the
// machine and what the control group have. What it allows may still be taken by another process a moment later: nobody
// can reserve memory on Linux but by taking it, which segment::commit() and huge_buffer do at once.
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

  /// What may be taken now: the lesser of the machine's and the control group's, less a margin that is left to others.
  std::uint64_t usable_bytes() const noexcept;
};

memory_status memory_info();

/// Throws errc::out_of_memory unless `bytes` can be taken now. `what` begins the sentence: "array 'table'".
void require_memory(std::uint64_t bytes, std::string_view what);
void require_memory(std::uint64_t bytes, std::string_view what, const memory_status& status);

/// "1.5 GiB", "24.0 GiB", "512 B".
std::string describe_bytes(std::uint64_t bytes);

/// How much address space this process may have (ulimit -v); k_no_limit if that is not limited.
std::uint64_t address_space_limit() noexcept;

/// The limits on address space in force, and what to do; ends the sentence of a refused reservation.
std::string describe_address_space_limits();

}  // namespace shoal::machine
