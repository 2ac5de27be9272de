// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/tiling.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shoal/detail/loop_space.hpp"

namespace shoal::detail {
namespace {

// Every point of the box lies in one tile; gives the number of points of the largest tile.
template <class Box>
std::uint64_t check_cover(const Box& box, const tiling<Box>& cut) {
  const std::uint64_t rows = box.side(Box::k_sides - 2).end();
  const std::uint64_t columns = box.side(Box::k_sides - 1).end();
  std::vector<int> seen((Box::k_sides == 3 ? box.side(0).end() : 1) * rows * columns);
  std::uint64_t largest = 0;
  for (std::uint64_t k = 0; k < cut.tiles(); ++k) {
    const Box t = cut.tile(k);
    EXPECT_LE(t.size(), cut.unit());
    largest = std::max(largest, t.size());
    const range1d page = Box::k_sides == 3 ? t.side(0) : range1d(0, 1);
    for (std::uint64_t p = page.begin(); p < page.end(); ++p)
      for (std::uint64_t i = t.side(Box::k_sides - 2).begin(); i < t.side(Box::k_sides - 2).end(); ++i)
        for (std::uint64_t j = t.side(Box::k_sides - 1).begin(); j < t.side(Box::k_sides - 1).end(); ++j)
          ++seen[(p * rows + i) * columns + j];
  }
  std::uint64_t points = 0;
  for (const int s : seen) {
    EXPECT_LE(s, 1);
    points += static_cast<std::uint64_t>(s);
  }
  EXPECT_EQ(points, box.size());
  return largest;
}

TEST(tiling, covers_the_box_with_tiles_of_the_size_asked_for) {
  for (const auto& box : {range2d(3, 100, 5, 64), range2d(0, 1, 0, 1000), range2d(7, 8, 2, 3), range2d(0, 33, 0, 31)})
    for (const std::uint64_t most : {1U, 10U, 100U, 100'000U}) {
      const auto cut = tiling<range2d>::of_size(box, most);
      EXPECT_LE(check_cover(box, cut), most);
    }
  const range3d box(range1d(1, 12), range1d(2, 20), range1d(0, 17));
  for (const std::uint64_t most : {1U, 50U, 1000U})
    EXPECT_LE(check_cover(box, tiling<range3d>::of_size(box, most)), most);
}

TEST(tiling, has_as_many_tiles_as_asked_for) {
  const range2d box(3, 100, 5, 64);
  for (const unsigned n : {1U, 2U, 3U, 7U, 16U}) {
    const auto cut = tiling<range2d>::of_count(box, n);
    check_cover(box, cut);
    EXPECT_GE(cut.tiles(), n);
    EXPECT_LT(cut.tiles(), 2 * n);
    const auto shares = tiling<range2d>::of_shares(box, n);
    const std::uint64_t largest = check_cover(box, shares);
    EXPECT_EQ(shares.tiles(), n);
    EXPECT_LE(largest * n, box.size() * 5 / 4) << n;
  }
  check_cover(range2d(0, 2, 0, 1), tiling<range2d>::of_shares(range2d(0, 2, 0, 1), 5));  // some get nothing
}

TEST(tiling, does_not_cut_below_grains) {
  const range2d box(range1d(0, 64, 8), range1d(0, 64, 32));
  const auto cut = tiling<range2d>::of_size(box, 1);
  EXPECT_EQ(cut.tiles(), 16U);
  EXPECT_EQ(cut.unit(), 8U * 32);
}

// Half of the numbers is half of the box, in one piece.
TEST(tiling, neighbouring_numbers_are_neighbours) {
  const range2d box(0, 64, 0, 64);
  const auto cut = tiling<range2d>::of_size(box, 16);
  for (std::uint64_t k = 0; k < cut.tiles(); ++k) {
    const range2d t = cut.tile(k);
    EXPECT_EQ(k < cut.tiles() / 2, t.rows().end() <= 32);
    EXPECT_EQ(k % (cut.tiles() / 2) < cut.tiles() / 4, t.columns().end() <= 32);
  }
}

TEST(tiling, of_a_huge_box_is_cheap) {
  const range2d box(0, std::uint64_t{1} << 24, 0, std::uint64_t{1} << 23);
  const auto cut = tiling<range2d>::of_size(box, 1);
  EXPECT_EQ(cut.tiles() * cut.unit(), std::uint64_t{1} << 47);
  EXPECT_EQ(cut.tile(cut.tiles() - 1).rows().end(), std::uint64_t{1} << 24);
  EXPECT_EQ(cut.tile(0).columns(), range1d(0, 1));
}

// Shares have as many positions as the box has points: those behind a tile's last point are left out in one.
TEST(tiling, positions_behind_the_last_point_of_a_tile_make_no_chunks) {
  const auto cut = tiling<range2d>::of_shares(range2d(0, 10, 0, 10), 4);
  const tiles<range2d> space{cut};
  const std::uint64_t points = cut.tile(1).size();
  ASSERT_LT(points + 5, cut.unit());
  const std::uint64_t begin = cut.unit();
  const std::uint64_t middle = begin + points / 2;
  loop_frame frame{position{begin}, position{middle}, position{2 * begin}, nullptr, nullptr};
  std::uint64_t ran = 0;
  const auto count = [&ran](std::uint64_t, std::uint64_t) { ++ran; };
  space.each<false>(frame, count);
  EXPECT_EQ(number(frame.next), middle);
  frame.limit = position{begin + points + 1};
  space.each<false>(frame, count);
  EXPECT_EQ(ran, points);
  EXPECT_EQ(number(frame.next), 2 * begin);

  const tiles<range2d> small{tiling<range2d>::of_shares(range2d(0, 1, 0, 3), 5)};  // some tiles have no points
  for (std::uint64_t k = 0; k < 5; ++k) {
    frame = {position{3 * k}, position{3 * k + 1}, position{3 * k + 3}, nullptr, nullptr};
    if (small.cut.tile(k).size() > 1) continue;
    small.each<false>(frame, count);
    EXPECT_EQ(number(frame.next), 3 * k + 3) << k;
  }
}

}  // namespace
}  // namespace shoal::detail
