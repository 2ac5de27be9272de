// SPDX-License-Identifier: Apache-2.0
// Where the elements of a global array are: a distribution, and the offset that the array has in the segment of every
// node that holds a part of it. Owner and place of an index come from a shift or one or two multiplications; those of
// distribution::blocks from a search in boundaries, those of distribution::owned from a look into a table of owners; every
// node keeps them in its table of arrays.
// Who may call: anyone, pure functions; for these two tasks of the job, from creation to the array's end.
// Shown by tests/unit/array/array_layout_test.cpp, tests/cluster/distribution_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "shoal/detail/command.hpp"
#include "shoal/detail/reciprocal.hpp"

namespace shoal {

/// How an array's elements are spread over the nodes. More in shoal/distribution.hpp.
enum class distribution : std::uint8_t {
  partition,     // contiguous blocks on all nodes, equal but for one element
  local,         // all on the node that allocates
  remote,        // contiguous blocks on all nodes but the one that allocates, equal but for one element
  cyclic,        // element i on node i mod n
  block_cyclic,  // blocks of a chosen length, block k on node k mod n
  blocks,        // one contiguous block per node, with boundaries of the program's choice
  owned,         // blocks of a chosen length, each on a node of the program's choice
};

namespace detail {

/// Of distribution::owned, on every node: 12 bytes per block and 8 per node.
class block_owners;

struct array_layout {
  std::uint64_t size = 0;
  std::uint64_t offset = 0;                  // in each owner's segment, bytes
  [[no_unique_address]] reciprocal divisor;  // elements per (longer) block; cyclic: nodes; blocks: of the longest
  std::uint32_t element_bytes = 0;           // (in what would be padding: handles travel in messages)
  std::uint32_t long_parts = 1;              // so many parts, the first ones, have divisor elements, the rest one less
  std::uint32_t first_node = 0;              // that holds part 0; part p is p nodes further, modulo `nodes`
  std::uint32_t node_count = 1;              // that hold a part
  std::uint32_t nodes = 1;                   // of the job
  std::uint32_t slot = 0;                    // of the array in every node's table, and which allocation it is
  std::uint32_t generation = 0;
  [[no_unique_address]] quotient_only second;  // by divisor - 1; block_cyclic: by the number of nodes
  distribution kind = distribution::local;
  element type = element::count;  // count: none, only bytes
  static constexpr std::uint8_t k_no_shift = 0xff;
  std::uint8_t block_shift = k_no_shift;  // the block's size as a power of two, if it is one and part 0 is on node 0

  /// The array's name in the whole job; never 0 for an array that has elements.
  std::uint64_t id() const noexcept { return std::uint64_t{generation} << 32 | slot; }
  static std::uint32_t slot_of(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id); }
  static std::uint32_t generation_of(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id >> 32); }

  struct place {
    std::uint32_t node;
    std::uint64_t offset;  // in its segment
  };

  /// Not for distribution::blocks. `start`: the node of part 0, of partition, cyclic and block_cyclic; `block`: the
  /// elements per block of block_cyclic and owned; `parts`: of a partition, 0: as many as nodes.
  static array_layout make(distribution kind, std::uint64_t size, std::uint32_t element_bytes, std::uint32_t here,
                           std::uint32_t nodes, std::uint32_t start = 0, std::uint64_t block = 1,
                           std::uint32_t parts = 0) noexcept {
    array_layout l;
    l.size = size;
    l.element_bytes = element_bytes;
    l.nodes = nodes;
    if (kind == distribution::remote && nodes == 1) kind = distribution::local;  // there is nobody else
    l.kind = kind;
    l.node_count = kind == distribution::local ? 1 : kind == distribution::remote ? nodes - 1 : nodes;
    l.first_node = kind == distribution::local ? here : kind == distribution::remote ? (here + 1) % nodes : start;
    if (kind == distribution::partition && parts != 0) l.node_count = parts;
    if (kind == distribution::cyclic)
      l.divisor = reciprocal(nodes);
    else if (kind == distribution::owned)
      l.divisor = reciprocal(block);
    else if (kind == distribution::block_cyclic && (size + block - 1) / block <= nodes)
      l.set_one_round(block);
    else if (kind == distribution::block_cyclic)
      l.divisor = reciprocal(block), l.second = quotient_only(nodes);
    else
      l.set_blocks();
    return l;
  }
  /// distribution::blocks: part p has the elements from bounds[p] on and before bounds[p + 1]; there are at most as many
  /// parts as nodes. Its bounds are found once the array is in the node's table.
  static array_layout make_blocks(std::span<const std::uint64_t> bounds, std::uint32_t element_bytes,
                                  std::uint32_t nodes, std::uint32_t start = 0) noexcept {
    array_layout l;
    l.size = bounds.back();
    l.element_bytes = element_bytes;
    l.nodes = nodes;
    l.kind = distribution::blocks;
    l.node_count = static_cast<std::uint32_t>(bounds.size() - 1);
    l.first_node = start;
    std::uint64_t longest = 1;
    for (std::size_t p = 0; p + 1 < bounds.size(); ++p) longest = std::max(longest, bounds[p + 1] - bounds[p]);
    l.divisor = reciprocal(longest);
    return l;
  }

  std::uint32_t node_of_part(std::uint64_t part) const noexcept {
    const auto node = static_cast<std::uint32_t>(first_node + part);
    return node < nodes ? node : node - nodes;
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
    if (kind > distribution::cyclic) [[unlikely]]
      return locate_rarely(i, bytes);
    const auto [quotient, remainder] = divisor.divide(i);
    if (kind == distribution::cyclic) return {node_of_part(remainder), offset + quotient * bytes};
    if (quotient < long_parts) [[likely]]
      return {node_of_part(quotient), offset + remainder * bytes};
    // As if the long parts were short ones, too: each has one element more.
    const std::uint64_t part = second.quotient(i - long_parts);
    return {node_of_part(part), offset + (i - long_parts - part * (divisor.divisor() - 1)) * bytes};
  }

  /// How many elements, i and those behind it, lie one behind the other at i's owner.
  std::uint64_t run_at(std::uint64_t i) const noexcept {
    if (kind == distribution::cyclic) return node_count == 1 ? size - i : 1;
    if (kind == distribution::block_cyclic || kind == distribution::owned)
      return std::min(divisor.divisor() - divisor.divide(i).remainder, size - i);
    const range r = local_range(locate(i).node);
    return r.first + r.count - i;
  }

  /// The most elements that a node holds.
  std::uint64_t most_local() const noexcept {
    if (kind == distribution::owned) return most_owned();
    return kind == distribution::cyclic || kind == distribution::block_cyclic ? local_range(first_node).count
                                                                              : std::min(divisor.divisor(), size);
  }

  /// Whether the elements of each node follow each other.
  bool has_whole_parts() const noexcept {
    return kind != distribution::cyclic && kind != distribution::block_cyclic && kind != distribution::owned;
  }

  bool holds_part(std::uint32_t node) const noexcept { return node < nodes && part_of(node) < node_count; }
  std::uint64_t part_of(std::uint32_t node) const noexcept {
    return node >= first_node ? node - first_node : node + nodes - first_node;
  }

  /// The elements of a node: runs of `run` indices, the first from `first` on, each `stride` behind the one before;
  /// `count` elements in all. Of distribution::owned: stride 0, and run k begins with index blocks[k] * run; such a
  /// range is for the process that asked, while the array exists.
  struct range {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t stride = 1;
    std::uint64_t run = 1;
    const std::uint32_t* blocks = nullptr;  // ascending

    std::uint64_t index(std::uint64_t k) const noexcept {
      if (blocks != nullptr) return blocks[k / run] * run + k % run;
      return run == 1 ? first + k * stride : first + k / run * stride + k % run;
    }
    /// How many of them are less than i.
    std::uint64_t below(std::uint64_t i) const noexcept {
      if (i <= first) return 0;
      if (blocks != nullptr) {
        const auto* const end = blocks + (count + run - 1) / run;
        const auto before = static_cast<std::uint64_t>(std::lower_bound(blocks, end, (i + run - 1) / run) - blocks);
        return std::min(count, (before - 1) * run + std::min(i - blocks[before - 1] * run, run));
      }
      const std::uint64_t distance = i - first;
      return std::min(count, distance / stride * run + std::min(distance % stride, run));
    }
    friend bool operator==(const range&, const range&) = default;
  };
  range local_range(std::uint32_t node) const noexcept {
    if (!holds_part(node)) return {};
    const std::uint64_t part = part_of(node);
    const std::uint64_t longer = divisor.divisor();
    switch (kind) {
      case distribution::cyclic:
        return {part, size > part ? (size - part + node_count - 1) / node_count : 0, node_count};
      case distribution::block_cyclic: {
        const std::uint64_t round = longer * node_count;
        range r{part * longer, ~std::uint64_t{0}, round, longer};
        r.count = r.below(size);
        return r;
      }
      case distribution::blocks: {
        const auto b = bounds();
        if (b.empty()) return {};
        return {b[part], b[part + 1] - b[part]};
      }
      case distribution::owned: return owned_range(node);
      default: break;
    }
    const std::uint64_t before = std::min<std::uint64_t>(part, long_parts);
    const std::uint64_t first = before + part * (longer - 1);
    return {std::min(first, size), std::min(size - std::min(first, size), part < long_parts ? longer : longer - 1)};
  }

  /// Of distribution::blocks: node_count + 1 boundaries, from this node's table; none if the array is not there.
  std::span<const std::uint64_t> bounds() const noexcept;
  /// Of distribution::owned: from this node's table; nullptr if the array is not there.
  const block_owners* owners() const noexcept;

private:
  place locate_rarely(std::uint64_t i, std::uint64_t bytes) const noexcept;
  range owned_range(std::uint32_t node) const noexcept;
  std::uint64_t most_owned() const noexcept;

  // The first parts have one element more where the size does not divide.
  void set_blocks() noexcept {
    const std::uint64_t rest = size % node_count;
    const std::uint64_t longer = std::max<std::uint64_t>(size / node_count + (rest > 0 ? 1 : 0), 1);
    divisor = reciprocal(longer);
    long_parts = static_cast<std::uint32_t>(rest > 0 ? rest : node_count);
    second = quotient_only(std::max<std::uint64_t>(longer - 1, 1));
    set_shift();
  }
  // Blocks of a chosen length, of which no node has two, are a partition whose last parts are shorter or empty.
  void set_one_round(std::uint64_t block) noexcept {
    kind = distribution::partition;
    divisor = reciprocal(block);
    long_parts = node_count;
    second = quotient_only(std::max<std::uint64_t>(block - 1, 1));
    set_shift();
  }
  void set_shift() noexcept {
    if (first_node != 0) return;
    if (node_count == 1)
      block_shift = 63;
    else if (long_parts + 1 >= node_count &&
             std::has_single_bit(divisor.divisor()))  // at most the last ones are shorter
      block_shift = static_cast<std::uint8_t>(std::countr_zero(divisor.divisor()));
  }
};
// It travels in messages and in what loops capture.
static_assert(sizeof(array_layout) <= 80);

}  // namespace detail
}  // namespace shoal
