// SPDX-License-Identifier: Apache-2.0
// Where the elements of a global array are: a distribution, and the offset that the array has in the segment of every
// node that holds a part of it. Owner and place of an index come from a multiplication.
// Who may call: anyone; pure functions. Shown by tests/unit/array/array_layout_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "shoal/detail/command.hpp"
#include "shoal/detail/reciprocal.hpp"

namespace shoal {

/// How an array's elements are spread over the nodes.
enum class distribution : std::uint8_t {
  partition,  // equal contiguous blocks on all nodes
  local,      // all on the node that allocates
  remote,     // equal contiguous blocks on all nodes but the one that allocates
  cyclic,     // element i on node i mod n
};

namespace detail {

struct array_layout {
  static constexpr std::uint32_t k_nobody = ~std::uint32_t{0};

  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in each owner's segment, bytes
  reciprocal divisor;        // partition: elements per block; cyclic: nodes
  std::uint32_t element_bytes = 0;
  std::uint32_t first_node = 0;
  std::uint32_t node_count = 1;  // that hold a part
  std::uint32_t skipped_node = k_nobody;
  std::uint32_t slot = 0;  // of the array in every node's table, and which allocation it is
  std::uint32_t generation = 0;
  distribution kind = distribution::local;
  element type = element::count;  // count: none, only bytes
  static constexpr std::uint8_t k_no_shift = 0xff;
  std::uint8_t block_shift = k_no_shift;  // partition: the block's size as a power of two, if it is one

  /// The array's name in the whole job; never 0 for an array that has elements.
  std::uint64_t id() const noexcept { return std::uint64_t{generation} << 32 | slot; }
  static std::uint32_t slot_of(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id); }
  static std::uint32_t generation_of(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id >> 32); }

  struct place {
    std::uint32_t node;
    std::uint64_t offset;  // in its segment
  };

  static array_layout make(distribution kind, std::uint64_t size, std::uint32_t element_bytes, std::uint32_t here,
                           std::uint32_t nodes) noexcept {
    array_layout l;
    l.size = size;
    l.element_bytes = element_bytes;
    l.kind = kind;
    if (kind == distribution::remote && nodes == 1) l.kind = kind = distribution::local;  // there is nobody else
    switch (kind) {
      case distribution::local: l.first_node = here; break;
      case distribution::remote:
        l.node_count = nodes - 1;
        l.skipped_node = here;
        break;
      case distribution::partition:
      case distribution::cyclic: l.node_count = nodes; break;
    }
    l.divisor =
        reciprocal(kind == distribution::cyclic ? l.node_count
                                                : std::max<std::uint64_t>((size + l.node_count - 1) / l.node_count, 1));
    if (kind == distribution::partition && std::has_single_bit(l.divisor.divisor()))
      l.block_shift = static_cast<std::uint8_t>(std::countr_zero(l.divisor.divisor()));
    return l;
  }

  std::uint32_t node_of_part(std::uint64_t part) const noexcept {
    const auto node = static_cast<std::uint32_t>(first_node + part);
    return node + (node >= skipped_node ? 1 : 0);
  }

  place locate(std::uint64_t i) const noexcept { return locate_in(i, element_bytes); }
  /// The same for elements of type T, whose size the compiler knows.
  template <class T>
  place locate(std::uint64_t i) const noexcept {
    return locate_in(i, sizeof(T));
  }
  place locate_in(std::uint64_t i, std::uint64_t bytes) const noexcept {
    if (block_shift != k_no_shift) [[likely]]
      return {static_cast<std::uint32_t>(i >> block_shift),
              offset + (i & ((std::uint64_t{1} << block_shift) - 1)) * bytes};
    const auto [quotient, remainder] = divisor.divide(i);
    if (kind == distribution::partition) return {static_cast<std::uint32_t>(quotient), offset + remainder * bytes};
    if (kind == distribution::cyclic) return {static_cast<std::uint32_t>(remainder), offset + quotient * bytes};
    return {node_of_part(quotient), offset + remainder * bytes};
  }

  /// The most elements that a node holds.
  std::uint64_t most_local() const noexcept {
    return kind == distribution::cyclic ? (size + node_count - 1) / node_count : std::min(divisor.divisor(), size);
  }

  bool holds_part(std::uint32_t node) const noexcept {
    return node != skipped_node && node >= first_node && part_of(node) < node_count;
  }
  std::uint64_t part_of(std::uint32_t node) const noexcept { return node - first_node - (node > skipped_node ? 1 : 0); }

  /// The elements of a node: `count` indices from `first` on, `stride` apart.
  struct range {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t stride = 1;
  };
  range local_range(std::uint32_t node) const noexcept {
    if (!holds_part(node)) return {};
    const std::uint64_t part = part_of(node);
    if (kind == distribution::cyclic)
      return {part, size > part ? (size - part + node_count - 1) / node_count : 0, node_count};
    const std::uint64_t first = std::min(part * divisor.divisor(), size);
    return {first, std::min(size - first, divisor.divisor()), 1};
  }
};

}  // namespace detail
}  // namespace shoal
