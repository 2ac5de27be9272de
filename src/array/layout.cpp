// SPDX-License-Identifier: Apache-2.0
// The places of elements that take more than a multiplication to find.
#include <algorithm>

#include "array/node_memory.hpp"
#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {

std::span<const std::uint64_t> array_layout::bounds() const noexcept {
  return this_port().context->memory->arrays().bounds(slot);
}

const block_owners* array_layout::owners() const noexcept { return this_port().context->memory->arrays().owners(slot); }

array_layout::range array_layout::owned_range(std::uint32_t node) const noexcept {
  const block_owners* const all = owners();
  if (all == nullptr) return {};
  const auto mine = all->blocks_of(node);
  const std::uint64_t length = divisor.divisor();
  if (mine.empty()) return {};
  const std::uint64_t missing = mine.back() + 1 == all->size() ? all->size() * length - size : 0;  // of the last block
  return {mine.front() * length, mine.size() * length - missing, 0, length, mine.data()};
}

std::uint64_t array_layout::most_owned() const noexcept {
  const block_owners* const all = owners();
  return all == nullptr ? 0 : std::min(all->most_blocks() * divisor.divisor(), size);
}

array_layout::place array_layout::locate_rarely(std::uint64_t i, std::uint64_t bytes) const noexcept {
  if (kind == distribution::block_cyclic) {
    const auto [block, in_block] = divisor.divide(i);
    const std::uint64_t round = second.quotient(block);
    return {node_of_part(block - round * node_count), offset + (round * divisor.divisor() + in_block) * bytes};
  }
  if (kind == distribution::owned) {
    const block_owners* const all = owners();
    SHOAL_CHECK(all != nullptr, "a global array is used after it was freed");
    const auto [number, in_block] = divisor.divide(i);
    const block_owners::block b = all->of(number);
    return {b.node, offset + (b.place * divisor.divisor() + in_block) * bytes};
  }
  const auto b = bounds();
  SHOAL_CHECK(b.size() == node_count + std::size_t{1}, "a global array is used after it was freed");
  // The last part that begins at i or before; of empty parts that begin there, too, the last one is it.
  const auto part = static_cast<std::uint64_t>(std::upper_bound(b.begin() + 1, b.end() - 1, i) - b.begin() - 1);
  return {node_of_part(part), offset + (i - b[part]) * bytes};
}

}  // namespace shoal::detail
