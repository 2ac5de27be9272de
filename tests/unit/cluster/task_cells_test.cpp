// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/task_cells.hpp"

#include <gtest/gtest.h>

#include <array>

namespace shoal::detail {
namespace {

bool ended(const std::array<task_cell, 3>& cells) {
  return task_cell::all_ended(
      cells.size(), [&](std::size_t i) -> auto& { return cells[i]; });
}

TEST(task_cells, know_when_all_have_ended_wherever_that_was) {
  std::array<task_cell, 3> cells;
  EXPECT_TRUE(ended(cells));
  cells[0].begin(5);
  EXPECT_FALSE(ended(cells));
  cells[1].end(2);
  cells[2].end(2);
  EXPECT_FALSE(ended(cells));
  cells[2].begin();
  cells[1].end();
  EXPECT_FALSE(ended(cells));
  cells[0].end();
  EXPECT_TRUE(ended(cells));
}

}  // namespace
}  // namespace shoal::detail
