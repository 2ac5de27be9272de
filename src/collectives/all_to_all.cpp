// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "collectives/algorithm_table.hpp"
#include "collectives/block.hpp"
#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {
namespace {

// How many members a member receives from at the same time.
constexpr unsigned k_receives_at_once = 8;

// In round k each block moves by 2^k members if bit k of its distance is set (Bruck et al. 1997).
void in_rounds(link& to, std::span<const std::byte> mine, std::span<std::byte> received) {
  const std::uint64_t n = to.size();
  const std::size_t bytes = mine.size() / n;
  std::vector<std::byte> blocks(mine.size());  // by distance
  for (std::uint64_t d = 0; d < n; ++d)
    copy(mine.subspan((to.rank() + d) % n * bytes, bytes), std::span(blocks).subspan(d * bytes, bytes));
  std::vector<std::byte> given(mine.size());
  std::vector<std::byte> taken(mine.size());
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < n; distance *= 2, ++step) {
    std::size_t moved = 0;
    const auto for_each_moved = [&](const auto& f) {
      moved = 0;
      for (std::uint64_t d = distance; d < n; ++d)
        if ((d & distance) != 0) f(std::span(blocks).subspan(d * bytes, bytes), moved += bytes);
    };
    for_each_moved([&](std::span<std::byte> b, std::size_t end) { copy(b, std::span(given).subspan(end - bytes)); });
    to.exchange(static_cast<std::uint32_t>((to.rank() + distance) % n), std::span(given).first(moved),
                static_cast<std::uint32_t>((to.rank() + n - distance) % n), std::span(taken).first(moved), step);
    for_each_moved(
        [&](std::span<std::byte> b, std::size_t end) { copy(std::span(taken).subspan(end - bytes, bytes), b); });
  }
  for (std::uint64_t d = 0; d < n; ++d)
    copy(std::span(blocks).subspan(d * bytes, bytes), received.subspan((to.rank() + n - d) % n * bytes, bytes));
}

}  // namespace

void all_to_all(link& to, std::span<const std::byte> mine, std::span<std::byte> received) {
  if (mine.empty()) return barrier(to);
  const std::size_t bytes = mine.size() / to.size();
  if (chosen(to, operation::all_to_all, bytes) == algorithm::bruck) return in_rounds(to, mine, received);
  const auto bounds = equal_bounds(to.size(), bytes);
  all_to_all_blocks(to, mine, bounds, received, bounds);
}

// In step s a member sends to the member s behind it and receives from the one s before it: no two send to the same.
void all_to_all_blocks(link& to, std::span<const std::byte> mine, block_bounds sent, std::span<std::byte> received,
                       block_bounds taken) {
  const std::uint64_t n = to.size();
  const auto sender = [&](std::uint64_t s) { return static_cast<std::uint32_t>((to.rank() + n - s) % n); };
  const auto receiver = [&](std::uint64_t s) { return static_cast<std::uint32_t>((to.rank() + s) % n); };
  const auto expect = [&](std::uint64_t s) {
    if (s >= n) return;
    const auto target = block(received, taken, sender(s));
    if (!target.empty()) to.expect(sender(s), 0, target);
  };
  for (std::uint64_t s = 1; s < k_receives_at_once; ++s) expect(s);
  copy(block(mine, sent, to.rank()), block(received, taken, to.rank()));
  for (std::uint64_t s = 1; s < n; ++s) {
    expect(s + k_receives_at_once - 1);
    const auto given = block(mine, sent, receiver(s));
    if (!given.empty()) to.send(receiver(s), 0, given);
    if (taken[sender(s) + 1] > taken[sender(s)]) to.await(sender(s), 0);
  }
}

}  // namespace shoal::collectives
