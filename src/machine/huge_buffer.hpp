// SPDX-License-Identifier: Apache-2.0
// Private memory on 2 MiB pages, all of it there from the start: for rings, tables of the benchmarks, pools.
// Who may call: any thread, at set-up. Never switches tasks.
// Guarantees: aligned to 2 MiB, zero, size rounded up to 2 MiB (4 KiB pages: to a page), committed before the
// constructor returns (errc::out_of_memory otherwise, naming both figures). Huge pages are asked for, not guaranteed:
// huge_bytes() says what was given. Pages lie on the NUMA node of the constructing thread. Shown by
// tests/unit/machine/huge_buffer_test.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "machine/mapping.hpp"

namespace shoal::machine {

class huge_buffer {
public:
  huge_buffer() = default;
  explicit huge_buffer(std::size_t bytes, page_kind pages = page_kind::huge);
  /// The same without its memory, of which nobody has asked whether it is there: populate_pages() takes it, in parts.
  static huge_buffer unpopulated(std::size_t bytes, page_kind pages = page_kind::huge);

  /// From the system's pool of pages of this size; errc::out_of_memory if it has too few.
  static huge_buffer of_pool(std::size_t bytes, std::size_t page_bytes);

  std::byte* data() const noexcept { return mapping_.data(); }
  std::size_t size() const noexcept { return mapping_.size(); }
  std::size_t huge_bytes() const { return size() == 0 ? 0 : count_pages(data(), size()).huge_bytes; }

  /// The memory as an array of a trivial type.
  template <class T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data()), size() / sizeof(T)};
  }

private:
  mapping mapping_;
};

/// Takes the pages of a writable range now instead of at the first access; what they hold stays. False, with errno set,
/// if the kernel has no memory for them; and with EINVAL if it is older than 5.14 and `touch`, which cannot fail but die,
/// is not allowed.
bool populate_pages(void* address, std::size_t bytes, bool touch = true) noexcept;

}  // namespace shoal::machine
