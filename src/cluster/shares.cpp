// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "array/node_memory.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {
namespace {

// How many nodes have a share if `takers` divide `count` equally.
std::uint32_t takers_of(std::uint64_t count, std::uint32_t takers) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, takers));
}

// The first and the last node of those that hold any of these elements, by number.
node_row row_between_holders(const array_layout& layout, std::uint64_t begin, std::uint64_t end) {
  const auto holds = [&](std::uint32_t n) {
    const auto r = layout.local_range(n);
    return r.below(begin) < r.below(end);
  };
  std::uint32_t first = 0;
  while (!holds(first)) ++first;
  std::uint32_t last = layout.nodes - 1;
  while (!holds(last)) --last;
  return {.first = first, .count = last - first + 1, .wrap = layout.nodes};
}

// Of a range that is not empty. Parts follow each other from first_node on; all of them: by number.
node_row row_of_owners(const array_layout& layout, std::uint64_t begin, std::uint64_t end) {
  const std::uint32_t nodes = layout.nodes;
  std::uint64_t part = 0;
  std::uint64_t count = 0;
  switch (layout.kind) {
    case distribution::owned: return row_between_holders(layout, begin, end);
    case distribution::cyclic:
      part = begin % layout.node_count;
      count = std::min<std::uint64_t>(end - begin, layout.node_count);
      break;
    case distribution::block_cyclic: {
      const std::uint64_t block = layout.divisor.divisor();
      part = begin / block % layout.node_count;
      count = std::min<std::uint64_t>((end - 1) / block - begin / block + 1, layout.node_count);
      break;
    }
    default:
      part = layout.part_of(layout.locate(begin).node);
      count = layout.part_of(layout.locate(end - 1).node) - part + 1;
      break;
  }
  if (count == nodes) return {.first = 0, .count = nodes, .wrap = nodes};
  return {.first = layout.node_of_part(part), .count = static_cast<std::uint32_t>(count), .wrap = nodes};
}

}  // namespace

std::uint64_t owned_position(std::uint64_t array, std::uint64_t k) noexcept {
  const port& p = this_port();
  const array_layout* const layout = p.context->memory->arrays().find(array);
  SHOAL_ASSERT(layout != nullptr, "a global array is freed while a loop over its elements runs");
  return layout->local_range(p.node).index(k);
}

loop_share loop_rule::share(std::uint32_t place, std::uint32_t node, const array_layout* layout) const noexcept {
  loop_share s;
  switch (divides) {
    case division::equal: {  // the first ones are longer by one where the range does not divide
      const std::uint64_t whole = (end - begin) / takers;
      const std::uint64_t rest = (end - begin) % takers;
      s.first = begin + place * whole + std::min<std::uint64_t>(place, rest);
      s.count = whole + (place < rest ? 1 : 0);
      break;
    }
    case division::dealt:
      s.first = place;
      s.count = (end - place + takers - 1) / takers;
      s.stride = takers;
      break;
    case division::owners: {
      SHOAL_ASSERT(layout != nullptr, "a global array is freed while a loop over its elements runs");
      const auto r = layout->local_range(node);
      const std::uint64_t from = r.below(begin);
      s.count = r.below(end) - std::min(from, r.below(end));
      if (layout->kind == distribution::owned) {
        s = {.count = s.count, .stride = 0, .run = 0, .skipped = from, .array = array};
      } else if (r.run == 1) {
        s = {.first = r.index(from), .count = s.count, .stride = r.stride};
      } else {
        s = {.first = r.first, .count = s.count, .stride = r.stride, .run = r.run, .skipped = from};
      }
      break;
    }
  }
  s.grain = grain;
  s.stack_bytes = stack_bytes;
  s.stop = stop;
  s.how = how;
  s.outermost = outermost;
  return s;
}

loop_share loop_rule::share_here(std::uint32_t place) const noexcept {
  const port& p = this_port();
  return share(place, p.node, divides == division::owners ? p.context->memory->arrays().find(array) : nullptr);
}

loop_share arrived_share(std::span<const std::uint64_t> arguments, loop_rule& rule) noexcept {
  SHOAL_ASSERT(arguments.size() >= k_rule_words,
               "another node has sent a share of a loop that is too short; do all nodes run the same program?");
  rule = packed<loop_rule>::read(arguments.data() + 1);
  return rule.share_here(static_cast<std::uint32_t>(arguments[0]));
}

loop_shares loop_shares::everywhere(std::uint64_t begin, std::uint64_t end, std::uint32_t start) {
  const std::uint32_t nodes = this_port().nodes;
  loop_shares s;
  s.rule_ = {.begin = begin, .end = end, .takers = nodes};
  s.row_ = {.first = start, .count = takers_of(end - begin, nodes), .wrap = nodes};
  return s;
}

loop_shares loop_shares::elsewhere(std::uint64_t begin, std::uint64_t end) {
  const port& p = this_port();
  SHOAL_ASSERT(p.nodes > 1, "there is no elsewhere: the job has one node");
  loop_shares s;
  s.rule_ = {.begin = begin, .end = end, .takers = p.nodes - 1};
  s.row_ = {.first = 0, .count = takers_of(end - begin, p.nodes - 1), .wrap = p.nodes - 1, .skip = p.node};
  return s;
}

loop_shares loop_shares::here(std::uint64_t begin, std::uint64_t end) { return on(this_port().node, begin, end); }

loop_shares loop_shares::on(std::uint32_t node, std::uint64_t begin, std::uint64_t end) {
  loop_shares s;
  s.rule_ = {.begin = begin, .end = end};
  s.row_ = {.first = node, .count = takers_of(end - begin, 1), .wrap = this_port().nodes};
  return s;
}

loop_shares loop_shares::dealt(std::uint64_t count) {
  const std::uint32_t nodes = this_port().nodes;
  loop_shares s;
  s.rule_ = {.end = count, .takers = nodes, .divides = loop_rule::division::dealt};
  s.row_ = {.first = 0, .count = takers_of(count, nodes), .wrap = nodes};
  return s;
}

loop_shares loop_shares::owners(const array_layout& layout, std::uint64_t begin, std::uint64_t end) {
  SHOAL_ASSERT(end <= layout.size, "owners_of: the range is longer than the array");
  loop_shares s;
  s.rule_ = {.begin = begin, .end = end, .array = layout.id(), .divides = loop_rule::division::owners};
  s.layout_ = layout;
  if (begin < end) s.row_ = row_of_owners(layout, begin, end);
  return s;
}

void loop_shares::set(const loop_plan& plan, std::uint64_t stop) noexcept {
  rule_.how = plan.how;
  rule_.grain = plan.grain;
  rule_.stack_bytes = plan.stack_bytes;
  rule_.stop = stop;
  rule_.outermost = is_outermost();
  rule_.origin = this_port().node;
}

std::optional<loop_share> begin_loop_calls(completion& calls, const loop_shares& all, call_tree& tree,
                                           std::span<std::uint64_t> words, call_tree::own_part own) {
  packed<loop_rule>::write(all.rule(), words.data() + k_tree_words + 1);
  if (all.size() != 0) tree.begin(calls, words, own);
  const std::uint32_t place = tree.own_place();
  if (own == call_tree::own_part::called || place == node_row::k_none) return std::nullopt;
  return all[place];
}

std::optional<loop_share> begin_loop_calls(completion& calls, const loop_shares& all, callee code,
                                           std::span<std::uint64_t> words, call_tree::own_part own) {
  call_tree tree(all.row(), code);
  return begin_loop_calls(calls, all, tree, words, own);
}

}  // namespace shoal::detail
