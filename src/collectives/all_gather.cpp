// SPDX-License-Identifier: Apache-2.0
#include "collectives/all_gather.hpp"

#include <algorithm>
#include <array>

#include "collectives/algorithm_table.hpp"
#include "collectives/block.hpp"

namespace shoal::collectives {
namespace {

// Blocks [first, first + count) of a ring: one piece, or two if they wrap.
std::array<std::span<std::byte>, 2> pieces(block_bounds bounds, std::span<std::byte> all, std::uint64_t first,
                                           std::uint64_t count) {
  const std::uint64_t n = bounds.size() - 1;
  const auto piece = [&](std::uint64_t from, std::uint64_t end) {
    return all.subspan(bounds[from], bounds[end] - bounds[from]);
  };
  first %= n;
  const std::uint64_t end = std::min(first + count, n);
  return {piece(first, end), piece(0, first + count - end)};
}

// In each round a member gives the block that it got last to the next one, and gets one from the one before.
void gather_in_ring(link& to, std::uint32_t first, block_bounds bounds, std::span<std::byte> all, std::uint32_t step) {
  const std::uint32_t n = to.size();
  const std::uint32_t place = (to.rank() + n - first) % n;
  const std::uint32_t left = (to.rank() + n - 1) % n;
  const std::uint32_t right = (to.rank() + 1) % n;
  const auto wanted = [&](std::uint32_t round) { return block(all, bounds, (place + n - round - 1) % n); };
  const auto expect = [&](std::uint32_t round) {
    if (round + 1 < n && !wanted(round).empty()) to.expect(left, step + round, wanted(round));
  };
  expect(0);
  for (std::uint32_t round = 0; round + 1 < n; ++round) {
    expect(round + 1);
    if (const auto given = block(all, bounds, (place + n - round) % n); !given.empty())
      to.send(right, step + round, given);
    if (!wanted(round).empty()) to.await(left, step + round);
  }
}

// After each round a member has the blocks of twice as many places, from its own on (Bruck et al. 1997). Each block is at
// its place from the start, so nothing is moved at the end.
void gather_in_rounds(link& to, std::uint32_t first, block_bounds bounds, std::span<std::byte> all,
                      std::uint32_t step) {
  const std::uint64_t n = to.size();
  const std::uint64_t place = (to.rank() + n - first) % n;
  for (std::uint64_t have = 1; have < n; have *= 2, step += 2) {
    const std::uint64_t count = std::min(have, n - have);
    const auto sender = static_cast<std::uint32_t>((to.rank() + have) % n);
    const auto receiver = static_cast<std::uint32_t>((to.rank() + n - have) % n);
    const auto wanted = pieces(bounds, all, place + have, count);
    const auto given = pieces(bounds, all, place, count);
    for (std::uint32_t i = 0; i < 2; ++i)
      if (!wanted[i].empty()) to.expect(sender, step + i, wanted[i]);
    for (std::uint32_t i = 0; i < 2; ++i)
      if (!given[i].empty()) to.send(receiver, step + i, given[i]);
    for (std::uint32_t i = 0; i < 2; ++i)
      if (!wanted[i].empty()) to.await(sender, step + i);
  }
}

}  // namespace

void gather_among(link& to, std::uint32_t first, block_bounds bounds, std::span<std::byte> all, std::uint32_t step) {
  const bool ring =
      to.size() <= k_longest_ring && chosen(to, operation::all_gather, bounds.back() / to.size()) == algorithm::ring;
  (ring ? gather_in_ring : gather_in_rounds)(to, first, bounds, all, step);
}

void all_gather(link& to, block_bounds bounds, std::span<std::byte> all) { gather_among(to, 0, bounds, all, 0); }

std::vector<std::size_t> bounds_of(std::span<const std::uint64_t> bytes) {
  std::vector<std::size_t> bounds(bytes.size() + 1, 0);
  for (std::size_t r = 0; r < bytes.size(); ++r) bounds[r + 1] = bounds[r] + bytes[r];
  return bounds;
}

std::vector<std::size_t> equal_bounds(std::uint32_t n, std::size_t bytes) {
  std::vector<std::size_t> bounds(n + 1);
  for (std::uint32_t r = 0; r <= n; ++r) bounds[r] = r * bytes;
  return bounds;
}

}  // namespace shoal::collectives
