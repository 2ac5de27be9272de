// SPDX-License-Identifier: Apache-2.0
// How much of a range of this process's memory has been touched: one system call, which walks the pages of the range only.
// Who may call: any thread. Never switches tasks. Throws std::bad_alloc. Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/memory_info.hpp"

namespace shoal::machine {

/// Of the `bytes` up to the page of `last`; 0 if the range is not mapped.
inline std::size_t touched_bytes_below(const void* last, std::size_t bytes) {
  const std::size_t page = page_size();
  std::vector<unsigned char> there(bytes / page);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(last) / page * page + page;
  if (::mincore(reinterpret_cast<void*>(end - there.size() * page), there.size() * page, there.data()) != 0) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(there, [](unsigned char c) { return c % 2 != 0; })) * page;
}

}  // namespace shoal::machine
