// SPDX-License-Identifier: Apache-2.0
// Random indices into a table, the input of histogram and gather: index i depends on the seed, on i and on the size of
// the table, not on nodes or workers.
// Who may call: index_at(): anyone; fill(): tasks, it switches. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::random_indices {

using numbers = array_ref<std::uint64_t>;

/// Index i of the random sequence of `seed`, below `size`.
inline std::uint64_t index_at(std::uint64_t seed, std::uint64_t i, std::uint64_t size) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(splitmix64::at(seed, i)) * size >> 64);
}

inline void fill(const numbers& indices, std::uint64_t table_size, std::uint64_t seed) {
  parallel_for(owners_of(indices), indices.size(),
               [indices, table_size, seed](std::uint64_t i) { indices.async_put(i, index_at(seed, i, table_size)); });
}

}  // namespace shoal::kernels::random_indices
