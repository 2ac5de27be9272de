// SPDX-License-Identifier: Apache-2.0
// Routes between nodes: to whom a node sends what is meant for another one. Nodes lie in a box of up to three
// dimensions, in the order of their numbers; the last row, and the last plane, may be short. A hop changes one
// coordinate, so a box of k sides has about k * N^(1/k) next hops per node and at most k hops. Rows may also be given
// one by one: those of a machine, so that the first hop stays on it.
// Order of hops: along the own row, then to the other row, then to the other plane. But a message that is to leave the
// short last row or plane leaves it first, since the node where the others turn may not exist there.
// A node that has a block to hand on keeps the buffer it came in until there is room at the next hop. With this order
// such waits never form a cycle: the test builds the graph of all of them (Dally and Seitz, "Deadlock-free message
// routing", 1987).
// Who may call: anyone. Nothing switches tasks. Test: tests/unit/net/route_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace shoal::net {

class route_map {
public:
  /// `hops`: 1, 2 or 3 dimensions, with sides as equal as possible.
  route_map(std::uint32_t nodes, unsigned hops) noexcept;
  /// Two dimensions; a row for each group of consecutive nodes. `rows`: their lengths, which add up to `nodes`.
  explicit route_map(const std::vector<std::uint32_t>& rows);

  std::uint32_t nodes() const noexcept { return nodes_; }
  unsigned hops() const noexcept { return hops_; }
  /// `from` and `to` differ.
  std::uint32_t next_hop(std::uint32_t from, std::uint32_t to) const noexcept;
  /// How many next hops a node has at most.
  std::uint32_t most_next_hops() const noexcept;

private:
  std::uint32_t next_in_row(std::uint32_t from, std::uint32_t to) const noexcept;
  std::uint32_t next_in_grid(std::uint32_t from, std::uint32_t to, std::uint32_t nodes) const noexcept;

  std::uint32_t nodes_;
  unsigned hops_;
  std::array<std::uint32_t, 2> sides_{1, 1};  // nodes of a row; rows of a plane
  std::vector<std::uint32_t> row_begins_;     // of given rows, and the end; empty: a box
  std::vector<std::uint32_t> row_of_;         // by node, of given rows
};

}  // namespace shoal::net
