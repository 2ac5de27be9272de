// SPDX-License-Identifier: Apache-2.0
#include "machine/page_cost.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

#include "base/clock.hpp"
#include "machine/memory_info.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {

std::uint64_t measure_first_touch_ns() {
  constexpr std::size_t k_pages = 512;
  constexpr int k_rounds = 3;
  const std::size_t page = page_size();
  const std::size_t bytes = k_pages * page;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw error(errc::out_of_memory, "no memory to measure the cost of a page's first touch");
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < k_rounds; ++i) {
    ::madvise(memory, bytes, MADV_DONTNEED);
    volatile std::byte* const pages = static_cast<std::byte*>(memory);
    const std::uint64_t begin = base::now_ns();
    for (std::size_t p = 0; p < k_pages; ++p) pages[p * page] = std::byte{1};
    least = std::min(least, (base::now_ns() - begin) / k_pages);
  }
  ::munmap(memory, bytes);
  return least;
}

}  // namespace shoal::machine
