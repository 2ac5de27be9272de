// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "collectives/algorithm_table.hpp"
#include "collectives/all_gather.hpp"
#include "collectives/tree.hpp"

namespace shoal::collectives {
namespace {

constexpr std::uint32_t k_down_step = 0;
constexpr std::uint32_t k_gather_step = 1;

}  // namespace

void broadcast(link& to, std::uint32_t root, std::span<std::byte> data) {
  const std::uint32_t n = to.size();
  if (n == 1) return;
  if (data.empty()) return barrier(to);
  const tree from_root(to, root);
  if (chosen(to, operation::broadcast, data.size()) == algorithm::binomial) {
    if (!from_root.is_root()) to.receive(from_root.parent(), k_down_step, data);
    from_root.for_each_child_largest_first(
        [&](std::uint32_t child) { to.send(from_root.rank_of(child), k_down_step, data); });
    return;
  }
  // A block for each member goes down the tree, then all members gather all blocks: each receives less than two times
  // the data.
  std::vector<std::size_t> begins(n + 1);
  for (std::uint32_t p = 0; p <= n; ++p) begins[p] = static_cast<std::size_t>(std::uint64_t{data.size()} * p / n);
  const auto blocks = [&](std::uint32_t first, std::uint32_t end) {
    return data.subspan(begins[first], begins[end] - begins[first]);
  };
  if (!from_root.is_root())
    to.receive(from_root.parent(), k_down_step, blocks(from_root.place(), from_root.end_of(from_root.place())));
  from_root.for_each_child_largest_first([&](std::uint32_t child) {
    to.send(from_root.rank_of(child), k_down_step, blocks(child, from_root.end_of(child)));
  });
  gather_among(to, root, begins, data, k_gather_step);
}

}  // namespace shoal::collectives
