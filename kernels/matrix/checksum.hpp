// SPDX-License-Identifier: Apache-2.0
// A number that two matrices share if they have the same entries, and hardly any others: the sum of a random weight of
// each entry. A wrong matrix passes with a probability of 2^-64. Entries are taken under other names, so the sum of a
// matrix says what that of its transposed, or permuted, one must be.
//   const auto wanted = checksum(a, [](auto row, auto column) { return weight(column, row); });   // of the transposed
// Who may call: tasks; it switches. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "kernels/matrix/plain_rows.hpp"
#include "kernels/random/matrix.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::matrices {

inline std::uint64_t weight(std::uint64_t row, std::uint64_t column) noexcept {
  return mix64(mix64(row + 1) ^ (column + 1));
}

/// The sum of weight_of(row, column) over the entries, modulo 2^64. The function travels and may wait.
template <class F>
std::uint64_t checksum(const random_matrix::matrix_ref& a, const F& weight_of) {
  static_assert(!std::is_function_v<F>, "a function's address differs between nodes: wrap it in a lambda");
  return parallel_reduce(
      owners_of(a.degrees()), a.vertices(), std::uint64_t{0},
      [a, weight_of](std::uint64_t row) -> std::uint64_t {
        std::uint64_t sum = 0;
        for (const std::uint64_t column : a.neighbours(row)) sum += weight_of(row, column);
        return sum;
      },
      std::plus<>());
}
inline std::uint64_t checksum(const random_matrix::matrix_ref& a) {
  return checksum(a, [](std::uint64_t row, std::uint64_t column) { return weight(row, column); });
}

/// The same of plain rows, after a look at whether they ascend and end with the last entry: 0 if not.
inline std::uint64_t checksum(const plain_rows& a) {
  const auto begins = a.begins.ref();
  const auto columns = a.columns.ref();
  const std::uint64_t descents = parallel_reduce(
      owners_of(begins), a.rows(), std::uint64_t{0},
      [begins](std::uint64_t row) -> std::uint64_t { return begins.get(row) > begins.get(row + 1) ? 1 : 0; },
      std::plus<>());
  if (descents != 0 || begins.get(0) != 0 || begins.get(a.rows()) != columns.size()) return 0;
  return parallel_reduce(
      owners_of(begins), a.rows(), std::uint64_t{0},
      [begins, columns](std::uint64_t row) -> std::uint64_t {
        std::uint64_t sum = 0;
        for (std::uint64_t k = begins.get(row); k < begins.get(row + 1); ++k) sum += weight(row, columns.get(k));
        return sum;
      },
      std::plus<>());
}

}  // namespace shoal::kernels::matrices
