// SPDX-License-Identifier: Apache-2.0
// Topological sort of a matrix that is upper triangular with a unit diagonal, but for the orders of its rows and columns,
// which somebody has permuted: finds new numbers of rows and columns that make it so again. A row with one entry left
// comes last of those that are left, and so does the column of that entry; both leave the matrix.
//   simple   a queue of such rows over all nodes; each entry of a column is taken out by a fetch_add
//   fast     level by level on all nodes: an entry is taken out by a message of 3 words, places come from prefix sums
// `t` is the transposed matrix. Both return how many rows have got a number: if not all, there are no such orders.
// Of a row both keep one word: how many entries are left, and above bit 32 the sum of their columns, modulo 2^32.
// Source: bale's toposort. Who may call: tasks; they switch. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/random/matrix.hpp"
#include "kernels/reference/permutation.hpp"
#include "shoal/array.hpp"
#include "shoal/global_queue.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::toposort {

using random_matrix::matrix_ref;
using labels = array_ref<std::uint32_t>;

/// An entry of this column, in the word of its row.
inline std::uint64_t entry(std::uint64_t column) noexcept { return column << 32 | 1; }
inline std::uint32_t entries_in(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }
inline std::uint32_t column_in(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }

inline std::uint64_t simple(const matrix_ref& a, const matrix_ref& t, const labels& rows, const labels& columns) {
  const global_array<std::uint64_t> left(a.vertices(), like(a.degrees()));
  const global_array<std::uint64_t> placed(1);
  const global_queue<std::uint32_t> ready;
  parallel_for(owners_of(left), a.vertices(), [a, left = left.ref(), ready = ready.ref()](std::uint64_t r) {
    for (const std::uint32_t c : a.neighbours(r)) left.add(r, entry(c));
    if (entries_in(left.get(r)) == 1) ready.push(static_cast<std::uint32_t>(r));
  });
  ready.run([t, rows, columns, left = left.ref(), placed = placed.ref(), ready = ready.ref()](std::uint32_t r) {
    const std::uint32_t c = column_in(left.get(r));
    const auto place = static_cast<std::uint32_t>(rows.size() - 1 - placed.fetch_add(0, 1));
    rows.async_put(r, place);
    columns.async_put(c, place);
    std::vector<std::uint32_t> room;
    for (const std::uint32_t other : t.row(c, room))
      if (entries_in(left.fetch_add(other, 0 - entry(c))) == 2) ready.async_push(t.owner(other), other);
  });
  return placed->get(0);
}

std::uint64_t fast(const matrix_ref& a, const matrix_ref& t, const labels& rows, const labels& columns);

/// Whether `rows` and `columns` are permutations that leave nothing below the diagonal, and all of that.
inline bool is_right(const matrix_ref& a, const labels& rows, const labels& columns) {
  if (!reference::is_permutation(rows) || !reference::is_permutation(columns)) return false;
  constexpr std::uint64_t k_below = std::uint64_t{1} << 40;
  const std::uint64_t found = parallel_reduce(
      owners_of(a.degrees()), a.vertices(), std::uint64_t{0},
      [a, rows, columns](std::uint64_t r) -> std::uint64_t {
        const std::uint32_t row = rows.get(r);
        std::uint64_t sum = 0;
        for (const std::uint32_t c : a.neighbours(r)) {
          const std::uint32_t column = columns.get(c);
          sum += column < row ? k_below : column == row ? 1 : 0;
        }
        return sum;
      },
      std::plus<>());
  return found == a.vertices();
}

}  // namespace shoal::kernels::toposort
