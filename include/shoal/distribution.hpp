// SPDX-License-Identifier: Apache-2.0
// Where the elements of a new global array are to be, beyond what `shoal::distribution` names:
//   global_array<T> a(size, shoal::partition_from(3));                    node 3 holds the first block
//   global_array<T> b(size, shoal::block_cyclic(1024));                   blocks of 1024 elements, dealt to the nodes
//   global_array<T> c(size, shoal::blocks_at({0, 10, size}));             node 0: [0, 10), node 1: [10, size)
//   global_array<T> d(size, shoal::weighted({1, 3}));                     node 1 holds three quarters
//   global_array<T> g(size, shoal::partition_on(2, 2));                   equal blocks on nodes 2 and 3 only
//   global_array<T> h(size, shoal::owned_by(4096, [](std::uint64_t block) { return home_of(block); }));
//   global_array<U> e(size, shoal::like(c));                              element i lives with element i of c
//   global_array<edge> f(edges, shoal::aligned(vertices, offsets));       a vertex's edges live with the vertex
// Who may call: any thread; like() and aligned(): tasks. aligned() may switch. Guarantees: a plan is a value; what does
// not fit the array's size or the job is refused by the array's constructor: shoal::error (invalid_argument).
// Complexity of an access: blocks_at, weighted, aligned O(log nodes); owned_by O(1), a look into a table; others O(1).
// Shown by tests/cluster/distribution_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/array_layout.hpp"

namespace shoal {

/// What the functions below return. Programs need not name it.
struct distribution_plan {
  static constexpr std::uint32_t k_caller = ~std::uint32_t{0};
  static constexpr std::uint64_t k_any_size = ~std::uint64_t{0};

  distribution_plan(distribution d) noexcept : kind(d) {}  // NOLINT: a plain distribution is a plan

  distribution kind;
  std::uint32_t start = 0;               // the node of the first part
  std::uint32_t here = k_caller;         // of local and remote: the node that counts as the one that allocates
  std::uint32_t parts = 0;               // of partition: on so many nodes; 0: all
  std::uint64_t block = 1;               // of block_cyclic, and owned
  std::uint64_t only_size = k_any_size;  // that the array may have
  std::vector<std::uint64_t> bounds;     // of blocks, one more than there are parts
  std::vector<double> weights;           // of blocks, instead of bounds
  std::vector<std::uint32_t> owners;     // of owned, by block
  std::function<std::uint64_t(std::uint64_t block)> owner;  // the same as a function
};

/// Equal blocks, the first one on node `start`, the next on the node behind it, modulo the number of nodes.
inline distribution_plan partition_from(std::uint32_t start) {
  distribution_plan p(distribution::partition);
  p.start = start;
  return p;
}
/// Equal blocks on `count` nodes, at least 1, from node `first` on, modulo the number of nodes: for an array that is to
/// be on few nodes, with more elements than one of them holds.
inline distribution_plan partition_on(std::uint32_t first, std::uint32_t count) {
  distribution_plan p(distribution::partition);
  p.start = first;
  p.parts = count;
  if (count == 0) p.block = 0;  // refused by the array
  return p;
}
/// Element i on node (start + i) mod n.
inline distribution_plan cyclic_from(std::uint32_t start) {
  distribution_plan p(distribution::cyclic);
  p.start = start;
  return p;
}
/// Blocks of `block` elements, at least 1; block k on node (start + k) mod n. If no node has two, it is a partition.
inline distribution_plan block_cyclic(std::uint64_t block, std::uint32_t start = 0) {
  distribution_plan p(distribution::block_cyclic);
  p.block = block;
  p.start = start;
  return p;
}
/// Node p holds the elements from bounds[p] on and before bounds[p + 1]. The first bound is 0, the last one the array's
/// size, none is less than the one before; at most one part per node.
inline distribution_plan blocks_at(std::vector<std::uint64_t> bounds) {
  distribution_plan p(distribution::blocks);
  p.bounds = std::move(bounds);
  return p;
}
/// One block per node, as long as its weight's share of all weights. At most one weight per node, none negative.
inline distribution_plan weighted(std::vector<double> weights) {
  distribution_plan p(distribution::blocks);
  p.weights = std::move(weights);
  return p;
}

/// Blocks of `block` elements, at least 1; block b is on node owner(b), an integer below the number of nodes. The
/// function is called once per block, in ascending order, by the task that makes the array; it does not travel. Every
/// node keeps 12 bytes per block; at most 2^18 blocks. Like a cyclic array it has no contiguous parts: it is not for
/// aligned(), and sort() sorts a copy. owners_of() costs some ns more per iteration than parts_of().
template <class F>
requires std::is_invocable_v<const F&, std::uint64_t> distribution_plan owned_by(std::uint64_t block, F owner) {
  static_assert(std::is_integral_v<std::invoke_result_t<const F&, std::uint64_t>>,
                "an owner function returns the number of a node");
  distribution_plan p(distribution::owned);
  p.block = block;
  p.owner = [owner = std::move(owner)](std::uint64_t b) { return static_cast<std::uint64_t>(owner(b)); };
  return p;
}
/// The same with the owners of all blocks in a table.
inline distribution_plan owned_by(std::uint64_t block, std::vector<std::uint32_t> owners) {
  distribution_plan p(distribution::owned);
  p.block = block;
  p.owners = std::move(owners);
  return p;
}

namespace detail {
distribution_plan plan_like(const array_layout& other);
/// The first index of each part, and the size behind them; shoal::error if a part is not contiguous.
std::vector<std::uint64_t> part_bounds(const array_layout& layout);

template <class Array>
const array_layout& layout_of_array(const Array& array) noexcept {
  if constexpr (requires { array.layout(); })
    return array.layout();
  else
    return array->layout();
}
}  // namespace detail

/// Element i on the node of element i of `other`, which has the same size.
template <class Array>
distribution_plan like(const Array& other) {
  return detail::plan_like(detail::layout_of_array(other));
}

/// Elements offsets[k] ... offsets[k + 1] - 1 on the node of element k of `other`. `offsets`: an array_ref of integers,
/// or a span or vector of them, of one element more than `other`; it begins with 0, ascends, and ends with the new
/// array's size. `other` has contiguous parts (it is neither cyclic nor block_cyclic nor owned).
template <class Array, class Offsets>
distribution_plan aligned(const Array& other, const Offsets& offsets) {
  const detail::array_layout& layout = detail::layout_of_array(other);
  std::vector<std::uint64_t> bounds = detail::part_bounds(layout);
  for (std::uint64_t& b : bounds) {
    if constexpr (requires { offsets->get(b); })
      b = static_cast<std::uint64_t>(offsets->get(b));
    else if constexpr (requires { offsets.get(b); })
      b = static_cast<std::uint64_t>(offsets.get(b));
    else
      b = static_cast<std::uint64_t>(offsets[b]);
  }
  distribution_plan p = blocks_at(std::move(bounds));
  p.start = layout.first_node;
  return p;
}

}  // namespace shoal
