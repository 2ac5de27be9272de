// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/matrix_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/error.hpp"

namespace shoal::detail {
namespace {

array_layout axis(std::uint64_t size, std::uint64_t block, std::uint32_t processes) noexcept {
  const auto kind = block == 0 ? distribution::partition : distribution::block_cyclic;
  return array_layout::make(kind, size, 1, 0, processes, 0, std::max<std::uint64_t>(block, 1));
}

matrix_plan whole_grid(matrix_plan plan, std::uint32_t nodes) {
  if (plan.down == 0 && plan.across == 0) {
    plan.down = 1;
    for (std::uint32_t d = 2; std::uint64_t{d} * d <= nodes; ++d)
      if (nodes % d == 0) plan.down = d;
  }
  if (plan.down == 0) plan.down = std::max(nodes / plan.across, 1U);
  if (plan.across == 0) plan.across = std::max(nodes / plan.down, 1U);
  if (std::uint64_t{plan.down} * plan.across > nodes)
    throw error(errc::invalid_argument,
                fmt::format("a process grid of {} x {} has more processes than the job has nodes: {}", plan.down,
                            plan.across, nodes));
  return plan;
}

}  // namespace

matrix_layout::matrix_layout(std::uint64_t row_count, std::uint64_t column_count, const matrix_plan& plan,
                             std::uint32_t nodes) {
  const matrix_plan grid = whole_grid(plan, nodes);
  rows = axis(row_count, grid.block_rows, grid.down);
  columns = axis(column_count, grid.block_columns, grid.across);
  leading = columns.most_local();
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(rows.most_local(), leading, &per_node) ||
      __builtin_mul_overflow(per_node, std::uint64_t{grid.down} * grid.across, &all))
    throw error(errc::out_of_memory,
                fmt::format("a matrix of {} x {} elements is larger than any memory; make it smaller", row_count,
                            column_count));
}

}  // namespace shoal::detail
