// SPDX-License-Identifier: Apache-2.0
// A range of this process's address space, unmapped by the destructor: the base of reserved_range,
// huge_buffer and segment. Also counts the pages behind an address range. Who may call: any thread, at
// set-up. Never switches tasks. Guarantees: reserve() takes address space only (no access, no memory, nothing counted
// against overcommit); a refusal throws errc::out_of_memory and names the limits in force. count_pages() reads
// /proc/self/smaps and so walks the page tables of the process: milliseconds, not for hot paths. Shown by
// tests/unit/machine/reserved_range_test.cpp and segment_test.cpp.
#pragma once

#include <cstddef>

#include "machine/memory_info.hpp"

namespace shoal::machine {

class mapping {
public:
  mapping() = default;
  static mapping reserve(std::size_t bytes, std::size_t alignment = k_huge_page_bytes);
  /// Readable and writable memory on pages of the system's pool, promised by it at once so that no access fails later;
  /// errc::out_of_memory if fewer are free. `bytes` is a multiple of `page_bytes`.
  static mapping reserve_pool(std::size_t bytes, std::size_t page_bytes);
  mapping(mapping&& other) noexcept;
  mapping& operator=(mapping&& other) noexcept;
  ~mapping();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  /// Gives up ownership without unmapping.
  void abandon() noexcept { data_ = nullptr; }

private:
  mapping(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct page_count {
  std::size_t resident_bytes = 0;
  std::size_t huge_bytes = 0;  // mapped by entries of 2 MiB, or more
};

/// What this process has mapped between `address` and `address + bytes` (both on page boundaries).
page_count count_pages(const void* address, std::size_t bytes);

}  // namespace shoal::machine
