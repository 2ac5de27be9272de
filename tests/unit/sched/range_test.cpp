// SPDX-License-Identifier: Apache-2.0
#include "shoal/range.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

TEST(range, halves_are_disjoint_and_together_the_whole) {
  std::vector<range1d> left{range1d(10, 1011, 7)};
  std::uint64_t expected_begin = 1011;
  std::uint64_t pieces = 0;
  while (!left.empty()) {
    range1d r = left.back();
    left.pop_back();
    if (r.is_divisible()) {
      const range1d whole = r;
      const range1d far = r.split();
      EXPECT_EQ(r.begin(), whole.begin());
      EXPECT_EQ(r.end(), far.begin());
      EXPECT_EQ(far.end(), whole.end());
      EXPECT_EQ(far.grain(), 7U);
      EXPECT_LE(far.size() - r.size(), 1U);
      left.push_back(r);
      left.push_back(far);  // taken first, so that the pieces come from the end
      continue;
    }
    EXPECT_EQ(r.end(), expected_begin);
    EXPECT_LE(r.size(), 7U);
    EXPECT_GT(r.size(), 3U);
    expected_begin = r.begin();
    ++pieces;
  }
  EXPECT_EQ(expected_begin, 10U);
  EXPECT_GE(pieces, 1001U / 7);
}

TEST(range, that_ends_before_it_begins_is_empty) {
  EXPECT_TRUE(range1d(5, 5).empty());
  EXPECT_TRUE(range1d(5, 3).empty());
  EXPECT_EQ(range1d(5, 3).size(), 0U);
  EXPECT_TRUE(range2d(0, 10, 4, 4).empty());
  EXPECT_TRUE(range3d(range1d(1, 1), range1d(0, 9), range1d(0, 9)).empty());
  EXPECT_FALSE(range2d(0, 1, 0, 1).empty());
}

TEST(range, of_two_sides_halves_the_one_that_is_longest_relative_to_its_grain) {
  range2d square(range1d(0, 100), range1d(0, 100));
  EXPECT_EQ(square.split(), range2d(50, 100, 0, 100));  // the first of equals
  EXPECT_EQ(square, range2d(0, 50, 0, 100));
  EXPECT_EQ(square.split(), range2d(0, 50, 50, 100));

  range2d wide(range1d(0, 60, 1), range1d(0, 1000, 50));
  range2d far = wide.split();  // 60 grains against 20
  EXPECT_EQ(wide.rows(), range1d(0, 30, 1));
  EXPECT_EQ(far.columns(), range1d(0, 1000, 50));
}

TEST(range, of_three_sides_ends_at_its_grains) {
  range3d box(range1d(0, 64, 16), range1d(0, 32, 16), range1d(0, 16, 16));
  EXPECT_EQ(box.size(), 64U * 32 * 16);
  std::uint64_t parts = 0;
  std::vector<range3d> left{box};
  while (!left.empty()) {
    range3d r = left.back();
    left.pop_back();
    if (r.is_divisible()) {
      left.push_back(r.split());
      left.push_back(r);
      continue;
    }
    EXPECT_EQ(r.size(), 16U * 16 * 16);
    ++parts;
  }
  EXPECT_EQ(parts, 8U);
}

}  // namespace
}  // namespace shoal
