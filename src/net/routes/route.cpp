// SPDX-License-Identifier: Apache-2.0
#include "net/routes/route.hpp"

#include <algorithm>

#include "shoal/detail/assert.hpp"

namespace shoal::net {
namespace {

// The least side of which `power` make a box that holds `nodes`.
std::uint32_t side_for(std::uint32_t nodes, unsigned power) noexcept {
  std::uint64_t side = 1;
  const auto holds = [&] {
    std::uint64_t box = 1;
    for (unsigned i = 0; i < power; ++i) box *= side;
    return box >= nodes;
  };
  while (!holds()) ++side;
  return static_cast<std::uint32_t>(side);
}

constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) noexcept { return (a + b - 1) / b; }

}  // namespace

route_map::route_map(std::uint32_t nodes, unsigned hops) noexcept : nodes_(nodes), hops_(hops) {
  SHOAL_ASSERT(nodes >= 1 && hops >= 1 && hops <= 3, "routes have one to three hops");
  if (hops == 1) return;
  sides_[0] = side_for(nodes, hops);
  if (hops == 3) sides_[1] = side_for(ceil_div(nodes, sides_[0]), 2);
}

route_map::route_map(const std::vector<std::uint32_t>& rows) : nodes_(0), hops_(2), row_begins_{0} {
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    nodes_ += rows[row];
    row_begins_.push_back(nodes_);
    row_of_.insert(row_of_.end(), rows[row], row);
  }
}

std::uint32_t route_map::next_hop(std::uint32_t from, std::uint32_t to) const noexcept {
  if (!row_begins_.empty()) return next_in_row(from, to);
  if (hops_ == 1) return to;
  if (hops_ == 2) return next_in_grid(from, to, nodes_);
  const std::uint32_t plane = sides_[0] * sides_[1];
  const std::uint32_t mine = from / plane, its = to / plane;
  const std::uint32_t base = mine * plane;
  if (mine == its) return base + next_in_grid(from - base, to - base, std::min(plane, nodes_ - base));
  if (from % plane == to % plane) return to;
  // A short plane may have no node where the others turn.
  if (base + plane > nodes_) return its * plane + from % plane;
  return base + next_in_grid(from - base, to % plane, plane);
}

// Of a plane with so many nodes, by their numbers in it. The last row may be short.
std::uint32_t route_map::next_in_grid(std::uint32_t from, std::uint32_t to, std::uint32_t nodes) const noexcept {
  const std::uint32_t side = sides_[0];
  const std::uint32_t row = from / side, column = from % side;
  const std::uint32_t to_row = to / side, to_column = to % side;
  if (row == to_row || column == to_column) return to;
  const std::uint32_t turn = row * side + to_column;
  return turn < nodes ? turn : to_row * side + column;
}

std::uint32_t route_map::next_in_row(std::uint32_t from, std::uint32_t to) const noexcept {
  const std::uint32_t row = row_of_[from], to_row = row_of_[to];
  const std::uint32_t column = from - row_begins_[row], to_column = to - row_begins_[to_row];
  if (row == to_row || column == to_column) return to;
  const std::uint32_t turn = row_begins_[row] + to_column;
  return turn < row_begins_[row + 1] ? turn : row_begins_[to_row] + column;
}

std::uint32_t route_map::most_next_hops() const noexcept {
  if (!row_begins_.empty()) {
    std::uint32_t longest = 0;
    for (std::size_t row = 0; row + 1 < row_begins_.size(); ++row)
      longest = std::max(longest, row_begins_[row + 1] - row_begins_[row]);
    return longest - 1 + static_cast<std::uint32_t>(row_begins_.size()) - 2;
  }
  if (hops_ == 1) return nodes_ - 1;
  const std::uint32_t rows = ceil_div(nodes_, sides_[0]);
  if (hops_ == 2) return sides_[0] - 1 + rows - 1;
  return sides_[0] - 1 + sides_[1] - 1 + ceil_div(rows, sides_[1]) - 1;
}

}  // namespace shoal::net
