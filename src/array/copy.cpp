// SPDX-License-Identifier: Apache-2.0
// Copies between arrays, and within one. Where source and target overlap, the result is that of memmove: the elements are
// moved in an order in which none is overwritten before it has been read.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "array/bulk.hpp"
#include "array/node_memory.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/element_access.hpp"

namespace shoal::detail {
namespace {

using array::bulk_put_shared;

// What an overlapping copy may keep outside of the array at once, on the node that calls it.
constexpr std::uint64_t k_most_kept_bytes = 1 << 20;
// What is moved within a node between two looks at the messages.
constexpr std::uint64_t k_moved_at_once_bytes = 64 << 10;

struct copy_request {
  array_layout to;
  array_layout from;
  std::uint64_t to_i;
  std::uint64_t from_i;
  std::uint64_t count;
  unsigned unit;
};

// Calls `part` on the nodes that hold the source, all at once, and waits for them.
void call_owners(callee part, const copy_request& request) {
  std::vector<std::uint64_t> words(packed<copy_request>::k_words);
  packed<copy_request>::write(request, words.data());
  completion all;
  for (std::uint32_t n = 0; n < this_port().nodes; ++n)
    if (request.from.holds_part(n)) begin_call(all, n, part, words);
  all.wait_and_rethrow();
}

// Each node sends its part of the source, directly from its memory.
std::size_t copy_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto r = packed<copy_request>::read(arguments.data());
  port& p = this_port();
  const auto range = r.from.local_range(p.node);
  const std::byte* part = p.bases[p.node] + r.from.offset;
  if (range.count == 0) return 0;
  // The local elements whose indices lie in [from_i, from_i + count).
  const std::uint64_t end = range.below(r.from_i + r.count);
  for (std::uint64_t k = range.below(r.from_i); k < end;) {
    const std::uint64_t n = range.stride == 1 ? end - k : std::min(end - k, range.run - k % range.run);
    bulk_put_shared(r.to, r.to_i + (range.index(k) - r.from_i), part + k * r.from.element_bytes, n, r.unit);
    k += n;
  }
  settle_all(p);
  return 0;
}

// --- copies within one array whose ranges overlap ------------------------------------------------------------------

// Of one node's elements of the source, those whose targets are on this node, too, and the rest: the first or the last
// ones, which leave it. Indices of the array.
struct division {
  std::uint64_t stay_begin = 0;
  std::uint64_t stay_end = 0;
  std::uint64_t leave_begin = 0;
  std::uint64_t leave_end = 0;
};

division divide(const copy_request& r, std::uint32_t node) noexcept {
  const auto part = r.from.local_range(node);
  const std::uint64_t part_end = part.first + part.count;
  const std::uint64_t begin = std::max(r.from_i, part.first);
  const std::uint64_t end = std::min(r.from_i + r.count, part_end);
  if (begin >= end) return {};
  if (r.to_i > r.from_i) {
    const std::uint64_t shift = r.to_i - r.from_i;
    const std::uint64_t at = std::clamp(part_end - std::min(shift, part_end), begin, end);
    return {begin, at, at, end};
  }
  const std::uint64_t at = std::clamp(part.first + (r.from_i - r.to_i), begin, end);
  return {at, end, begin, at};
}

// memmove that does not tear elements of `unit` bytes.
void move_elements(std::byte* to, const std::byte* from, std::uint64_t bytes, unsigned unit) noexcept {
  if (unit != 2 && unit != 4 && unit != 8) {
    std::memmove(to, from, bytes);
    return;
  }
  if (to < from) return copy_elements(to, from, bytes, unit);  // in ascending order
  while (bytes > 0) {
    bytes -= unit;
    copy_elements(to + bytes, from + bytes, unit, unit);
  }
}

// Each node moves what stays on it.
std::size_t move_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto r = packed<copy_request>::read(arguments.data());
  port& p = this_port();
  const division mine = divide(r, p.node);
  const std::uint64_t one = r.from.element_bytes;
  const auto address = [&](std::uint64_t i) {
    return p.bases[p.node] + r.from.offset + (i - r.from.local_range(p.node).first) * one;
  };
  const bool up = r.to_i > r.from_i;
  const std::uint64_t most = std::max<std::uint64_t>(k_moved_at_once_bytes / one, 1);
  for (std::uint64_t left = mine.stay_end - mine.stay_begin; left > 0;) {
    const std::uint64_t n = std::min(left, most);
    const std::uint64_t i = up ? mine.stay_begin + left - n : mine.stay_end - left;
    move_elements(address(r.to_i + (i - r.from_i)), address(i), n * one, r.unit);
    left -= n;
    attend(p);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

// The nodes move their parts at the same time; what goes from one to another is taken out before and put in after.
void shift_parts(const copy_request& r) {
  const port& p = this_port();
  const std::uint64_t one = r.from.element_bytes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> leaving;  // first and number
  std::uint64_t count = 0;
  for (std::uint32_t n = 0; n < p.nodes; ++n)
    if (const division d = divide(r, n); d.leave_end > d.leave_begin) {
      leaving.emplace_back(d.leave_begin, d.leave_end - d.leave_begin);
      count += d.leave_end - d.leave_begin;
    }
  std::vector<std::uint64_t> kept(words_for(count * one));  // words: aligned for all elements that must not tear
  auto* at = reinterpret_cast<std::byte*>(kept.data());
  for (const auto& [first, n] : leaving) {
    bulk_get(r.from, first, at, n, r.unit);
    at += n * one;
  }
  settle_all(this_port());
  call_owners(callee_of<move_part>(), r);
  at = reinterpret_cast<std::byte*>(kept.data());
  for (const auto& [first, n] : leaving) {
    bulk_put(r.to, r.to_i + (first - r.from_i), at, n, r.unit);
    at += n * one;
  }
  settle_all(this_port());
}

// Block after block, beginning at the end towards which the elements move: what a block overwrites has been read.
template <class Move>
void in_blocks(copy_request r, std::uint64_t block, const Move& move) {
  const bool up = r.to_i > r.from_i;
  const std::uint64_t to_i = r.to_i;
  const std::uint64_t from_i = r.from_i;
  for (std::uint64_t left = r.count; left > 0;) {
    const std::uint64_t n = std::min(left, block);
    const std::uint64_t done = up ? left - n : r.count - left;
    copy_request one = r;
    one.to_i = to_i + done;
    one.from_i = from_i + done;
    one.count = n;
    move(one);
    left -= n;
  }
}

void move_block(std::vector<std::uint64_t>& kept, const copy_request& r) {
  bulk_get(r.from, r.from_i, kept.data(), r.count, r.unit);
  settle_all(this_port());
  bulk_put(r.to, r.to_i, kept.data(), r.count, r.unit);
  settle_all(this_port());
}

void copy_overlapping(const copy_request& r) {
  const std::uint64_t shift = r.to_i > r.from_i ? r.to_i - r.from_i : r.from_i - r.to_i;
  const std::uint64_t one = r.from.element_bytes;
  const std::uint64_t most_kept = k_most_kept_bytes / one;  // elements
  if (shift > most_kept / r.from.node_count)                // a block as long as the shift does not overlap its target
    return in_blocks(r, shift, [](const copy_request& block) { call_owners(callee_of<copy_part>(), block); });
  if (r.from.has_whole_parts()) return shift_parts(r);
  std::vector<std::uint64_t> kept(words_for(std::min(r.count, most_kept) * one));
  in_blocks(r, most_kept, [&kept](const copy_request& block) { move_block(kept, block); });
}

}  // namespace

void copy(const array_layout& to, std::uint64_t to_i, const array_layout& from, std::uint64_t from_i,
          std::uint64_t count, unsigned unit) {
  if (count == 0) return;
  array::check_range(to, to_i, count);
  check_write(this_port(), to);
  array::check_range(from, from_i, count);
  const copy_request request{to, from, to_i, from_i, count, unit};
  if (to.id() != from.id() || to_i >= from_i + count || from_i >= to_i + count)
    return call_owners(callee_of<copy_part>(), request);
  if (to_i != from_i) copy_overlapping(request);
}

}  // namespace shoal::detail
