// SPDX-License-Identifier: Apache-2.0
// Permutation of a sparse matrix: entry (r, c) becomes entry (rows[r], columns[c]).
//   simple   by hand, as compressed rows in two global arrays: lengths, prefix sum, then each entry by one get and one put
//   fast     the library's relabelled(): new numbers of a row's entries together, then the rows are built from the arcs
// Check: `rows` and `columns` give each entry's new place, and with it the checksum of the result.
// Who may call: tasks; they switch. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>

#include "kernels/matrix/checksum.hpp"
#include "kernels/matrix/plain_rows.hpp"
#include "kernels/random/matrix.hpp"
#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::permute {

using random_matrix::matrix;
using random_matrix::matrix_ref;
using labels = array_ref<std::uint32_t>;

inline matrices::plain_rows simple(const matrix_ref& a, const labels& rows, const labels& columns) {
  matrices::plain_rows made(a.vertices(), a.arcs());
  parallel_for(owners_of(a.degrees()), a.vertices(), [a, rows, begins = made.begins.ref()](std::uint64_t r) {
    begins.async_put(rows.get(r), a.neighbours(r).size());
  });
  matrices::sum_up(made.begins);
  parallel_for(owners_of(a.degrees()), a.vertices(),
               [a, rows, columns, begins = made.begins.ref(), to = made.columns.ref()](std::uint64_t r) {
                 std::uint64_t at = begins.get(rows.get(r));
                 for (const std::uint32_t c : a.neighbours(r)) to.async_put(at++, columns.get(c));
               });
  return made;
}

inline matrix fast(const matrix& a, const labels& rows, const labels& columns) { return a.relabelled(rows, columns); }

/// The checksum of the permuted matrix.
inline std::uint64_t checksum_of(const matrix_ref& a, const labels& rows, const labels& columns) {
  return matrices::checksum(
      a, [rows, columns](std::uint64_t r, std::uint64_t c) { return matrices::weight(rows.get(r), columns.get(c)); });
}

}  // namespace shoal::kernels::permute
