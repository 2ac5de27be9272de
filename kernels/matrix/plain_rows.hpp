// SPDX-License-Identifier: Apache-2.0
// A sparse matrix as a program keeps it that knows nothing but global arrays: compressed sparse rows. The simple forms of
// permute and transpose make it, one element at a time.
// Who may call: tasks; sum_up() switches. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::matrices {

struct plain_rows {
  plain_rows(std::uint64_t rows, std::uint64_t entries) : begins(rows + 1), columns(entries) {}

  std::uint64_t rows() const noexcept { return begins.size() - 1; }

  global_array<std::uint64_t> begins;  // of row r: its first entry; the next one: the end
  global_array<std::uint32_t> columns;
};

/// Replaces each element by the sum of those before it.
inline void sum_up(const array_ref<std::uint64_t>& counts) {
  spmd([counts](team& t) {
    std::uint64_t mine = 0;
    for (const std::uint64_t count : counts.local()) mine += count;
    std::uint64_t sum = t.exscan(mine, std::plus<>());
    for (std::uint64_t& count : counts.local()) sum += std::exchange(count, sum);
  });
}

}  // namespace shoal::kernels::matrices
