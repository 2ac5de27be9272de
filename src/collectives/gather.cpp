// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "collectives/algorithm_table.hpp"
#include "collectives/block.hpp"
#include "collectives/tree.hpp"

namespace shoal::collectives {
namespace {

constexpr std::uint32_t k_size_step = 0;
constexpr std::uint32_t k_up_step = 1;
constexpr std::uint32_t k_straight_step = 2;

// The blocks of a subtree, in order of its places, on their way up: from the children, then to the parent.
// `bytes_between(first, end)`: the sizes of the blocks of these places together.
template <class Bytes>
void go_up(link& to, const tree& t, std::span<std::byte> subtree, const Bytes& bytes_between, std::uint32_t step) {
  const auto blocks_of = [&](std::uint32_t place) {
    return subtree.subspan(bytes_between(t.place(), place), bytes_between(place, t.end_of(place)));
  };
  t.for_each_child_smallest_first([&](std::uint32_t child) {
    if (!blocks_of(child).empty()) to.expect(t.rank_of(child), step, blocks_of(child));
  });
  t.for_each_child_smallest_first([&](std::uint32_t child) {
    if (!blocks_of(child).empty()) to.await(t.rank_of(child), step);
  });
  if (!t.is_root() && !subtree.empty()) to.send(t.parent(), step, subtree);
}

bool goes_straight(const link& to, std::size_t bytes) noexcept {
  return chosen(to, operation::gather, bytes) == algorithm::straight;
}

// The root receives the long blocks from their members.
void receive_straight(link& to, block_bounds bounds, std::span<std::byte> all) {
  const auto for_each_long = [&](const auto& f) {
    for (std::uint32_t r = 0; r < to.size(); ++r)
      if (r != to.rank() && goes_straight(to, block(all, bounds, r).size())) f(r);
  };
  for_each_long([&](std::uint32_t r) { to.expect(r, k_straight_step, block(all, bounds, r)); });
  for_each_long([&](std::uint32_t r) { to.await(r, k_straight_step); });
}

}  // namespace

void gather(link& to, std::uint32_t root, std::span<const std::byte> mine, std::span<std::byte> all) {
  const std::size_t bytes = mine.size();
  const tree t(to, root);
  if (goes_straight(to, bytes)) {
    if (!t.is_root()) return to.send(root, k_straight_step, mine);
    copy(mine, all.subspan(root * bytes, bytes));
    return receive_straight(to, equal_bounds(to.size(), bytes), all);
  }
  const std::uint32_t end = t.end_of(t.place());
  const std::uint32_t places = end - t.place();
  // The places are the ranks if the root is 0; then blocks arrive where they belong.
  const bool in_place = t.is_root() && root == 0;
  std::unique_ptr<std::byte[]> memory;
  std::span<std::byte> subtree = all;
  if (!in_place) {
    memory = std::make_unique_for_overwrite<std::byte[]>(places * bytes);
    subtree = {memory.get(), places * bytes};
  }
  copy(mine, subtree.first(bytes));
  go_up(
      to, t, subtree, [bytes](std::uint32_t a, std::uint32_t b) { return (b - a) * bytes; }, k_up_step);
  if (!t.is_root() || in_place) return;
  for (std::uint32_t p = 0; p < places; ++p)
    copy(subtree.subspan(p * bytes, bytes), all.subspan(t.rank_of(p) * bytes, bytes));
}

// Each member of the tree first learns the sizes of the blocks of its subtree.
void gather_blocks(link& to, std::uint32_t root, std::span<const std::byte> mine,
                   const std::function<std::span<std::byte>(block_bounds)>& room) {
  const tree t(to, root);
  const std::uint32_t places = t.end_of(t.place()) - t.place();
  std::vector<std::uint64_t> sizes(places);
  const std::uint64_t own = mine.size();
  sizes[0] = own;
  go_up(
      to, t, std::as_writable_bytes(std::span(sizes)),
      [](std::uint32_t a, std::uint32_t b) { return (b - a) * sizeof(std::uint64_t); }, k_size_step);
  std::vector<std::size_t> begins(places + 1, 0);  // of the short blocks
  for (std::uint32_t p = 0; p < places; ++p) begins[p + 1] = begins[p] + (goes_straight(to, sizes[p]) ? 0 : sizes[p]);
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(begins[places]);
  const std::span<std::byte> subtree(memory.get(), begins[places]);
  const bool straight = goes_straight(to, own);
  if (!straight) copy(mine, subtree);
  const auto go_up_short = [&] {
    go_up(
        to, t, subtree, [&](std::uint32_t a, std::uint32_t b) { return begins[b - t.place()] - begins[a - t.place()]; },
        k_up_step);
  };
  if (!t.is_root()) {
    go_up_short();
    if (straight) to.send(root, k_straight_step, mine);
    return;
  }
  std::rotate(sizes.begin(), sizes.end() - root, sizes.end());  // from places to ranks
  const std::vector<std::size_t> bounds = bounds_of(sizes);
  const std::span<std::byte> all = room(bounds);
  go_up_short();
  for (std::uint32_t p = 0; p < places; ++p)
    copy(subtree.subspan(begins[p], begins[p + 1] - begins[p]), all.subspan(bounds[t.rank_of(p)]));
  if (straight) copy(mine, all.subspan(bounds[root]));
  receive_straight(to, bounds, all);
}

}  // namespace shoal::collectives
