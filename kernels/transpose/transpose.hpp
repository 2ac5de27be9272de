// SPDX-License-Identifier: Apache-2.0
// Transposition of a sparse matrix: entry (r, c) becomes entry (c, r).
//   simple   by hand, as compressed rows in two global arrays: each entry is counted at its column by an add, and placed by
//            a fetch_add and a put
//   fast     the library's transposed()
// Check: the checksum of the turned entries; tests transpose back, too.
// Who may call: tasks; they switch. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>

#include "kernels/matrix/checksum.hpp"
#include "kernels/matrix/plain_rows.hpp"
#include "kernels/random/matrix.hpp"
#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::transpose {

using random_matrix::matrix;
using random_matrix::matrix_ref;

inline matrices::plain_rows simple(const matrix_ref& a) {
  matrices::plain_rows made(a.vertices(), a.arcs());
  parallel_for(owners_of(a.degrees()), a.vertices(), [a, counts = made.begins.ref()](std::uint64_t r) {
    for (const std::uint32_t c : a.neighbours(r)) counts.async_add(c, 1);
  });
  matrices::sum_up(made.begins);
  const global_array<std::uint64_t> next(made.begins.size());
  next->copy(0, made.begins, 0, next.size());
  parallel_for(owners_of(a.degrees()), a.vertices(), [a, next = next.ref(), to = made.columns.ref()](std::uint64_t r) {
    for (const std::uint32_t c : a.neighbours(r)) to.async_put(next.fetch_add(c, 1), static_cast<std::uint32_t>(r));
  });
  return made;
}

inline matrix fast(const matrix& a) { return a.transposed(); }

/// The checksum of the transposed matrix.
inline std::uint64_t checksum_of(const matrix_ref& a) {
  return matrices::checksum(a, [](std::uint64_t r, std::uint64_t c) { return matrices::weight(c, r); });
}

}  // namespace shoal::kernels::transpose
