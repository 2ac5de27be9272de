// SPDX-License-Identifier: Apache-2.0
#include "array/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "array/block_owners.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/error.hpp"

namespace shoal::array {
namespace {

// The bounds travel to every node in one call, beside the layout.
constexpr std::size_t k_most_bounds = detail::k_most_call_words - 64;

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw error(errc::invalid_argument, fmt::format(text, std::forward<Values>(values)...));
}

std::vector<std::uint64_t> bounds_of(const std::vector<double>& weights, std::uint64_t size) {
  long double all = 0;
  for (const double w : weights) {
    if (!std::isfinite(w) || w < 0) refuse("a weight of a global array's part is {}; weights are 0 or more", w);
    all += w;
  }
  if (!(all > 0)) refuse("the weights of a global array's parts are all 0; one must be more");
  std::vector<std::uint64_t> bounds{0};
  long double sum = 0;
  for (const double w : weights) {
    sum += w;
    const auto bound = static_cast<std::uint64_t>(sum / all * static_cast<long double>(size) + 0.5L);
    bounds.push_back(std::clamp(bound, bounds.back(), size));
  }
  // What the rounding of the sum may leave belongs to the last part that has a weight.
  for (std::size_t k = weights.size(); bounds[k] = size, k > 1 && weights[k - 1] <= 0; --k) {
  }
  return bounds;
}

void check_bounds(const std::vector<std::uint64_t>& bounds, std::uint64_t size, std::uint32_t nodes) {
  if (bounds.size() < 2) refuse("a global array by blocks needs at least two boundaries: 0 and its size");
  if (bounds.size() - 1 > nodes)
    refuse("a global array has {} blocks, and the job {} nodes: at most one block per node", bounds.size() - 1, nodes);
  if (bounds.size() > k_most_bounds)
    refuse("a global array has {} boundaries; at most {} are possible", bounds.size(), k_most_bounds);
  if (bounds.front() != 0) refuse("the first boundary of a global array's blocks is {}; it must be 0", bounds.front());
  const auto down = std::is_sorted_until(bounds.begin(), bounds.end());
  if (down != bounds.end())
    refuse("boundary {} of a global array's blocks is {}, less than the one before, {}", down - bounds.begin(), *down,
           *(down - 1));
  if (bounds.back() != size)
    refuse("the last boundary of a global array's blocks is {}; it must be the array's size, {}", bounds.back(), size);
}

std::uint64_t blocks_in(std::uint64_t size, std::uint64_t block) { return size / block + (size % block != 0 ? 1 : 0); }

[[noreturn]] void refuse_owner(std::uint64_t block, std::int64_t node, std::uint32_t nodes) {
  refuse("block {} of a global array is to be on node {}, and the job has {} nodes", block, node, nodes);
}

void find_owners(distribution_plan& plan, std::uint64_t size, std::uint32_t nodes) {
  const std::uint64_t blocks = blocks_in(size, plan.block);
  if (blocks > detail::block_owners::k_most_blocks)
    refuse(
        "a global array of {} elements has {} blocks of {} with owners of their own; at most {} are possible: make "
        "them longer",
        size, blocks, plan.block, detail::block_owners::k_most_blocks);
  if (plan.owner) {
    plan.owners.clear();
    plan.owners.reserve(blocks);
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const std::uint64_t node = plan.owner(b);
      if (node >= nodes) refuse_owner(b, static_cast<std::int64_t>(node), nodes);
      plan.owners.push_back(static_cast<std::uint32_t>(node));
    }
    plan.owner = nullptr;
  }
  if (plan.owners.size() != blocks)
    refuse("a global array of {} blocks has {} owners; it needs one for each", blocks, plan.owners.size());
  for (std::uint64_t b = 0; b < blocks; ++b)
    if (plan.owners[b] >= nodes) refuse_owner(b, plan.owners[b], nodes);
}

}  // namespace

distribution_plan resolved(distribution_plan plan, std::uint64_t size, std::uint32_t nodes) {
  if (plan.start >= nodes) refuse("a global array is to begin on node {}, and the job has {} nodes", plan.start, nodes);
  if (plan.only_size != distribution_plan::k_any_size && plan.only_size != size)
    refuse("a global array of {} elements cannot be spread like one of {}", size, plan.only_size);
  if ((plan.kind == distribution::block_cyclic || plan.kind == distribution::owned) &&
      (plan.block == 0 || plan.block > std::uint64_t{1} << 40))
    refuse("the blocks of a global array have {} elements; they have from 1 to 2^40", plan.block);
  if (plan.kind == distribution::partition && (plan.parts > nodes || plan.block == 0))
    refuse("a global array is to be on {} nodes; they are from 1 to the job's {}", plan.parts, nodes);
  if (plan.kind == distribution::owned) find_owners(plan, size, nodes);
  if (plan.kind != distribution::blocks) return plan;
  if (!plan.weights.empty()) plan.bounds = bounds_of(plan.weights, size);
  check_bounds(plan.bounds, size, nodes);
  return plan;
}

detail::array_layout layout_of(const distribution_plan& plan, std::uint64_t size, std::size_t element_bytes,
                               std::uint32_t here, std::uint32_t nodes) {
  const auto bytes = static_cast<std::uint32_t>(element_bytes);
  if (plan.kind == distribution::blocks)
    return detail::array_layout::make_blocks(plan.bounds, bytes, nodes, plan.start);
  if (plan.here != distribution_plan::k_caller) here = plan.here;
  const bool empty = plan.kind == distribution::owned && size == 0;  // without a table
  return detail::array_layout::make(empty ? distribution::partition : plan.kind, std::max<std::uint64_t>(size, 1),
                                    bytes, here, nodes, plan.start, plan.block, plan.parts);
}

}  // namespace shoal::array

namespace shoal::detail {

distribution_plan plan_like(const array_layout& other) {
  distribution_plan p(other.kind);
  p.only_size = other.size;
  switch (other.kind) {
    case distribution::local: p.here = other.first_node; break;
    case distribution::remote: p.here = (other.first_node + other.nodes - 1) % other.nodes; break;
    case distribution::blocks: {
      const auto bounds = other.bounds();
      p.bounds.assign(bounds.begin(), bounds.end());
      [[fallthrough]];
    }
    case distribution::cyclic: p.start = other.first_node; break;
    case distribution::owned: {
      p.block = other.divisor.divisor();
      const block_owners* const all = other.owners();
      for (std::uint64_t b = 0; all != nullptr && b < all->size(); ++b) p.owners.push_back(all->of(b).node);
      break;
    }
    case distribution::partition:
      p.start = other.first_node;
      p.parts = other.node_count;
      if (other.long_parts == other.node_count) {  // perhaps with blocks of a chosen length
        p.kind = distribution::block_cyclic;
        p.block = other.divisor.divisor();
        p.parts = 0;
      }
      break;
    case distribution::block_cyclic:
      p.start = other.first_node;
      p.block = other.divisor.divisor();
      break;
  }
  return p;
}

std::vector<std::uint64_t> part_bounds(const array_layout& layout) {
  if (!layout.has_whole_parts())
    array::refuse("an array cannot be aligned with a cyclic one; align it with one whose parts are contiguous");
  std::vector<std::uint64_t> bounds;
  for (std::uint32_t part = 0; part < layout.node_count; ++part)
    bounds.push_back(layout.local_range(layout.node_of_part(part)).first);
  bounds.push_back(layout.size);
  return bounds;
}

}  // namespace shoal::detail
