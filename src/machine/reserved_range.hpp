// SPDX-License-Identifier: Apache-2.0
// Address space taken now, memory taken later: where stacks and pools grow without moving and without a mapping each.
// Who may call: any thread; commit() and discard() may be called at the same time for different parts. Never switches
// tasks.
// Guarantees: commit() makes a part readable and writable; parts committed side by side become one mapping of the
// kernel, so the number of mappings (vm.max_map_count) does not grow with the number of commits. Committed pages are
// zero and take memory when first touched. discard() gives the memory back; the part stays usable and reads zero. A
// refusal throws errc::out_of_memory with what was asked for and the limits in force. Shown by
// tests/unit/machine/reserved_range_test.cpp.
#pragma once

#include <cstddef>

#include "machine/mapping.hpp"

namespace shoal::machine {

class reserved_range {
public:
  reserved_range() = default;

  /// page_kind::small: never on huge pages, for stacks, of which a few pages are touched. page_kind::huge: asks for
  /// them.
  explicit reserved_range(std::size_t bytes, std::size_t alignment = k_huge_page_bytes,
                          page_kind pages = page_kind::small);
  /// All of it taken from the pool of such pages now; `bytes` is a multiple of them. Throws errc::out_of_memory if so
  /// many are not free. commit() and discard() do nothing then.
  static reserved_range of_pool(std::size_t bytes, std::size_t page_bytes);

  std::byte* data() const noexcept { return mapping_.data(); }
  std::size_t size() const noexcept { return mapping_.size(); }
  bool contains(const void* address) const noexcept {
    const auto* const byte = static_cast<const std::byte*>(address);
    return byte >= data() && byte < data() + size();
  }

  /// Offsets and sizes are multiples of page_size().
  void commit(std::size_t offset, std::size_t bytes);
  void discard(std::size_t offset, std::size_t bytes) noexcept;

private:
  mapping mapping_;
  bool of_pool_ = false;
};

/// The same for a part of any private memory, by address.
void discard(void* address, std::size_t bytes) noexcept;

/// Whether the system looks at what madvise() asks for. Emulators of other processors accept anything and do nothing.
bool follows_advice() noexcept;

/// Makes any access to these pages a fault, without a mapping of their own (Linux 6.13: MADV_GUARD_INSTALL); what they
/// held is lost. False if the kernel cannot: the caller then detects overflows by other means. discard() keeps guards.
bool guard_install(void* address, std::size_t bytes) noexcept;
/// The same by taking the right to access, which makes mappings of their own; false if the system refuses those.
bool forbid_access(void* address, std::size_t bytes) noexcept;

}  // namespace shoal::machine
