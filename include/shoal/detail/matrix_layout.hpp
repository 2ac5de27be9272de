// SPDX-License-Identifier: Apache-2.0
// Where the elements of a global matrix are: process (p, q) of a grid, node p * across + q, has the elements whose row
// is one of process row p and whose column is one of process column q, row behind row. Each of the two is the layout of
// an array of one byte per row or column, whose "nodes" are the rows or columns of the grid.
// Who may call: anyone; pure functions. Source: Blackford and others, "ScaLAPACK Users' Guide" (1997), chapter 4.
// Shown by tests/cluster/distribution_test.cpp.
#pragma once

#include <cstdint>

#include "shoal/detail/array_layout.hpp"
#include "shoal/distribution.hpp"

namespace shoal {

/// How a matrix is spread over the nodes. Programs need not name it: see row_blocks() and the others.
struct matrix_plan {
  std::uint32_t down = 0;    // rows of the process grid; 0: as many as the nodes and `across` allow
  std::uint32_t across = 0;  // columns of the grid; both 0: nearly square
  std::uint64_t block_rows = 0;
  std::uint64_t block_columns = 0;  // 0: one block per process, equal but for one row or column
};

namespace detail {

struct matrix_layout {
  array_layout rows = array_layout::make(distribution::partition, 0, 1, 0, 1);
  array_layout columns = rows;
  std::uint64_t leading = 0;   // elements from a row of a process to the next one
  std::uint64_t per_node = 0;  // elements

  matrix_layout() = default;
  /// shoal::error (invalid_argument) if the grid does not fit, out_of_memory if no job has so many elements.
  matrix_layout(std::uint64_t row_count, std::uint64_t column_count, const matrix_plan& plan, std::uint32_t nodes);

  std::uint32_t down() const noexcept { return rows.nodes; }
  std::uint32_t across() const noexcept { return columns.nodes; }
  /// In the array that holds the matrix: blocks of `per_node` elements, one for each process.
  std::uint64_t index(std::uint64_t r, std::uint64_t c) const noexcept {
    const array_layout::place y = rows.locate_in(r, 1);
    const array_layout::place x = columns.locate_in(c, 1);
    return (std::uint64_t{y.node} * across() + x.node) * per_node + y.offset * leading + x.offset;
  }
  std::uint64_t elements() const noexcept { return std::uint64_t{down()} * across() * per_node; }
  /// The rows and columns of a node; none for nodes outside of the grid.
  array_layout::range rows_of(std::uint32_t node) const noexcept { return rows.local_range(node / across()); }
  array_layout::range columns_of(std::uint32_t node) const noexcept {
    return node / across() < down() ? columns.local_range(node % across()) : array_layout::range{};
  }
};

}  // namespace detail
}  // namespace shoal
