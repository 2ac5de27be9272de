// SPDX-License-Identifier: Apache-2.0
// How the workers of a process divide the work on many elements: into blocks of consecutive elements.
// Who may call: anyone; run(): tasks, and it may switch. Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "shoal/loop.hpp"

namespace shoal::detail {

/// Each worker has several blocks if they are long.
struct block_division {
  std::size_t count = 0;
  std::size_t blocks = 1;

  block_division() = default;
  block_division(std::size_t elements, std::size_t least_per_block, unsigned workers) noexcept : count(elements) {
    constexpr std::size_t k_long_block = std::size_t{1} << 20;
    constexpr std::size_t k_most_per_worker = 4;
    const std::size_t most = std::max<std::size_t>(count / least_per_block, 1);
    blocks = std::min(most, std::clamp<std::size_t>(count / k_long_block, workers, k_most_per_worker * workers));
  }
  std::size_t begin(std::size_t block) const noexcept {
    return count / blocks * block + std::min(block, count % blocks);
  }
  std::size_t size(std::size_t block) const noexcept { return begin(block + 1) - begin(block); }

  /// f(block) for all, by the workers if there are several.
  template <class F>
  void run(const F& f) const {
    if (blocks == 1) return f(std::size_t{0});
    parallel_for(blocks, f, simple_partitioner{1});
  }
};

}  // namespace shoal::detail
