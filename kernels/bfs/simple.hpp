// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, the simple form: one body per node, with plain loops over the node's own vertices. A level is
// searched from its vertices on while it is small: they tell the owners of their neighbours. A large level is searched
// from the vertices that have no parent: they look for one in it. The fast form: fast.hpp.
// Who may call: a task; it switches. Returns the number of levels; parents[v] is k_nobody for unreached v.
// Source: Beamer, Asanovic, Patterson 2012. Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/bfs/distributed_graph.hpp"
#include "shoal/shoal.hpp"

namespace shoal::kernels::bfs {

template <class Id>
std::uint64_t simple_search(const graph_view<Id>& g, const array_ref<Id>& parents, std::uint64_t root) {
  constexpr Id nobody = graph_view<Id>::k_nobody;
  parents.fill(nobody);
  parents.put(root, static_cast<Id>(root));
  return spmd([g, parents, root](team& t) {
    const std::span<Id> mine = parents.local();
    const std::uint64_t first = t.rank() * g.block;
    const std::uint64_t own = g.rows.degrees().local_range().count;
    const auto rows = g.rows.local();
    std::vector<std::uint64_t> level(g.block / 64), seen(g.block / 64 * t.size());  // bits: own vertices; all
    const auto for_each_bit = [](std::uint64_t bits, const auto& f) {
      for (; bits != 0; bits &= bits - 1) f(static_cast<std::uint64_t>(std::countr_zero(bits)));
    };
    const bool two_ways = g.way == direction::both;
    // Nobody looks for vertices that no arc reaches, nor for those behind the last one.
    parallel_for(here, level.size(), [&](std::uint64_t w) {
      for (std::uint64_t b = 0; b < 64; ++b) {
        const std::uint64_t v = 64 * w + b;
        const bool alone = v >= own || (two_ways && rows.neighbours(first + v).empty() && first + v != root);
        seen[first / 64 + w] |= static_cast<std::uint64_t>(alone) << b;
      }
    });
    for (std::uint64_t levels = 0;; ++levels) {
      // The next level: own vertices that have a parent, and had none before.
      const std::uint64_t arcs = parallel_reduce(
          here, level.size(), std::uint64_t{0},
          [&](std::uint64_t w) {
            std::uint64_t degrees = 0;
            std::uint64_t reached = 0;
            if (~seen[first / 64 + w] != 0)
              for (std::uint64_t b = 0; b < 64; ++b)
                reached |= static_cast<std::uint64_t>(mine[64 * w + b] != nobody) << b;
            level[w] = reached & ~seen[first / 64 + w];
            for_each_bit(level[w], [&](std::uint64_t b) { degrees += 1 + rows.neighbours(first + 64 * w + b).size(); });
            return degrees;
          },
          std::plus<>());
      const std::uint64_t of_all = t.all_reduce(arcs, std::plus<>());
      if (of_all == 0) return levels;
      const std::vector<std::uint64_t> frontier = t.all_gather(std::span(level)).values;
      parallel_for(here, seen.size(), [&](std::uint64_t w) { seen[w] |= frontier[w]; });
      const auto has = [](const std::vector<std::uint64_t>& bits, Id v) { return (bits[v / 64] >> v % 64 & 1) != 0; };
      if (two_ways && of_all > g.rows.arcs() / 20) {
        parallel_for(here, level.size(), [&](std::uint64_t w) {
          for_each_bit(~seen[first / 64 + w], [&](std::uint64_t b) {
            for (const Id u : rows.neighbours(first + 64 * w + b))
              if (has(frontier, u)) {
                mine[64 * w + b] = u;
                break;
              }
          });
        });
      } else {
        parallel_for(here, level.size(), [&](std::uint64_t w) {
          for_each_bit(level[w], [&](std::uint64_t b) {
            const auto v = static_cast<Id>(first + 64 * w + b);
            for (const Id u : rows.neighbours(v))
              if (!has(seen, u)) parents.async_update(u, [v](Id& p) { p = p == nobody ? v : p; });
          });
        });
      }
      t.barrier();
    }
  });
}

}  // namespace shoal::kernels::bfs
