// SPDX-License-Identifier: Apache-2.0
// Whom a node asks for work for good: its lifelines. Node i has one to each node i + 2^k modulo the number of nodes. Work
// reaches every node along at most log2(N) of them, and a node keeps no more.
// Who may call: anyone; pure functions.
// Source: Saraswat, Kambadur, Kodali, Grove, Krishnamoorthy: Lifeline-based global load balancing, PPoPP 2011 (there
// cyclic hypercubes). Test: tests/unit/cluster/lifelines_test.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace shoal::cluster {

/// How many lifelines each of `nodes` nodes has: the logarithm, rounded up.
constexpr unsigned lifeline_count(std::uint32_t nodes) noexcept {
  return nodes <= 1 ? 0 : static_cast<unsigned>(std::bit_width(nodes - 1));
}
/// Whom `node` asks.
constexpr std::uint32_t lifeline_of(std::uint32_t node, std::uint32_t nodes, unsigned k) noexcept {
  return static_cast<std::uint32_t>((node + (std::uint64_t{1} << k)) % nodes);
}
/// Who asks `node`.
constexpr std::uint32_t asks_along(std::uint32_t node, std::uint32_t nodes, unsigned k) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{node} + nodes - (std::uint64_t{1} << k)) % nodes);
}
/// How much of what waits a node gives away: half, the only one too.
constexpr std::size_t half_of(std::size_t waiting) noexcept { return (waiting + 1) / 2; }

}  // namespace shoal::cluster
