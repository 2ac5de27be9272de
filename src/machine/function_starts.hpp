// SPDX-License-Identifier: Apache-2.0
// Where the functions of a loaded image begin, from the table that it carries for unwinding (.eh_frame_hdr). Unlike
// symbols the table is always in memory, names static functions, too, and survives `strip`.
// Who may call: any thread, while the image is loaded. Never switches tasks.
// Guarantees: contains() is a search of O(log functions), without allocation. Empty, if the image has no table (C code
// compiled with -fno-asynchronous-unwind-tables), or one in a form that no linker in use writes.
// Tests: tests/unit/machine/images_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "machine/images.hpp"

namespace shoal::machine {

class function_starts {
public:
  function_starts() = default;
  explicit function_starts(const image& of);

  bool contains(std::uintptr_t address) const noexcept;
  bool empty() const noexcept { return entries_.empty(); }

private:
  struct entry {
    std::int32_t start;  // from base_
    std::int32_t description;
  };
  std::uintptr_t base_ = 0;
  std::span<const entry> entries_;  // in the image; sorted
};

}  // namespace shoal::machine
