// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "array/node_memory.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {
namespace {

constexpr std::uint32_t k_nobody = ~std::uint32_t{0};

}  // namespace

std::uint64_t owned_position(std::uint64_t array, std::uint64_t k) noexcept {
  const port& p = this_port();
  const array_layout* const layout = p.context->memory->arrays().find(array);
  SHOAL_ASSERT(layout != nullptr, "a global array is freed while a loop over its elements runs");
  return layout->local_range(p.node).index(k);
}

loop_shares loop_shares::everywhere(std::uint64_t begin, std::uint64_t end, std::uint32_t start) {
  loop_shares s;
  s.divide(begin, end, start, k_nobody);
  return s;
}

loop_shares loop_shares::elsewhere(std::uint64_t begin, std::uint64_t end) {
  SHOAL_ASSERT(this_port().nodes > 1, "there is no elsewhere: the job has one node");
  loop_shares s;
  s.divide(begin, end, 0, this_port().node);
  return s;
}

loop_shares loop_shares::here(std::uint64_t begin, std::uint64_t end) { return on(this_port().node, begin, end); }

loop_shares loop_shares::on(std::uint32_t node, std::uint64_t begin, std::uint64_t end) {
  loop_shares s;
  s.add(node, {.first = begin, .count = end - begin});
  return s;
}

loop_shares loop_shares::dealt(std::uint64_t count) {
  loop_shares s;
  const std::uint32_t nodes = this_port().nodes;
  for (std::uint32_t n = 0; n < nodes && n < count; ++n)
    s.add(n, {.first = n, .count = (count - n + nodes - 1) / nodes, .stride = nodes});
  return s;
}

loop_shares loop_shares::owners(const array_layout& layout, std::uint64_t begin, std::uint64_t end) {
  SHOAL_ASSERT(end <= layout.size, "owners_of: the range is longer than the array");
  loop_shares s;
  for (std::uint32_t n = 0; n < this_port().nodes; ++n) {
    const auto r = layout.local_range(n);
    const std::uint64_t from = r.below(begin);
    const std::uint64_t count = r.below(end) - std::min(from, r.below(end));
    if (layout.kind == distribution::owned)
      s.add(n, {.count = count, .stride = 0, .run = 0, .skipped = from, .array = layout.id()});
    else if (r.run == 1)
      s.add(n, {.first = r.index(from), .count = count, .stride = r.stride});
    else
      s.add(n, {.first = r.first, .count = count, .stride = r.stride, .run = r.run, .skipped = from});
  }
  return s;
}

void loop_shares::add(std::uint32_t node, const loop_share& share) {
  if (share.count == 0) return;
  nodes_.push_back(node);
  shares_.push_back(share);
}

// Equal shares; the first ones are longer by one where the range does not divide.
void loop_shares::divide(std::uint64_t begin, std::uint64_t end, std::uint32_t start, std::uint32_t but) {
  const std::uint32_t nodes = this_port().nodes;
  const std::uint32_t takers = nodes - (but < nodes ? 1 : 0);
  const std::uint64_t whole = (end - begin) / takers;
  const std::uint64_t rest = (end - begin) % takers;
  std::uint64_t first = begin;
  std::uint32_t taker = 0;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const std::uint32_t n = (start + i) % nodes;
    if (n == but) continue;
    const std::uint64_t count = whole + (taker++ < rest ? 1 : 0);
    add(n, {.first = first, .count = count});
    first += count;
  }
}

const loop_share* begin_other_shares(completion& calls, const loop_shares& all, callee code,
                                     std::span<std::uint64_t> words, std::uint64_t* answers, std::size_t answer_words) {
  const std::uint32_t here = this_port().node;
  const loop_share* mine = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.node(i) == here) {
      mine = &all[i];
      continue;
    }
    packed<loop_share>::write(all[i], words.data());
    begin_call(calls, all.node(i), code, words, answer_words == 0 ? nullptr : answers + i * answer_words, answer_words);
  }
  if (all.size() > (mine != nullptr ? 1U : 0U))
    flush_all(this_port());  // so that the other nodes begin while this node works
  return mine;
}

}  // namespace shoal::detail
