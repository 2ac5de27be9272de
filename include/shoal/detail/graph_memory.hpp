// SPDX-License-Identifier: Apache-2.0
// Builds the rows of a distributed graph in two passes over a source of arcs: each arc is counted at the owner of its
// row, then put into the row. A source is a value that travels; on each node it has size() items, and
// arcs(begin, end, f) calls f(row, target, weight) for the arcs of some of them, equally in both passes.
// Who may call: tasks; building switches. Guarantees: all nodes and workers take part; per arc one command of counting
// and one of placing, aggregated. Source: the two-pass builder of a sequential CSR; SYSTEMS: Graph500.
// Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/graph_placement.hpp"
#include "shoal/detail/graph_rows.hpp"
#include "shoal/error.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

struct row_options {
  bool sorted = false;
  bool drop_duplicates = false;
  bool highest_degree_first = false;
  bool balance_edges = false;
  array_ref<std::uint32_t> owners = {};  // vertices are where its elements are; empty: equal blocks
};

inline constexpr std::uint64_t pieces_of(std::uint64_t count, std::uint64_t piece) noexcept {
  return (count + piece - 1) / piece;
}

template <class Id, class Weight>
class graph_memory {
  using weight = stored_weight<Weight>;
  static constexpr bool k_weighted = !std::is_void_v<Weight>;
  using rows_type = graph_rows<Id, Weight>;

public:
  graph_memory() = default;
  template <class Source>
  graph_memory(std::uint64_t vertices, const Source& source, const row_options& options) : vertices_(vertices) {
    if (vertices == 0) return;
    // The blocks are multiples of 64, so that a word of a bitmap has one owner.
    const std::uint64_t block = pieces_of(pieces_of(vertices, node_count()), 64) * 64;
    degrees_ = global_array<std::uint32_t>(
        vertices, options.owners.empty() ? distribution_plan(block_cyclic(block)) : like(options.owners));
    global_array<std::uint64_t> cursors(vertices, like(degrees_));
    count(source, cursors);
    if (options.balance_edges && node_count() > 1) balance(cursors);
    lay_out(cursors);
    scatter(source, cursors);
    finish_rows(cursors, options);
  }

  rows_type rows(graph::direction way) const noexcept {
    return {vertices_, arcs_, way, degrees_.ref(), offsets_.ref(), targets_.ref(), weights_.ref()};
  }

private:
  template <class Source>
  static void count(const Source& source, const array_ref<std::uint64_t>& counts) {
    spmd([source, counts](team&) {
      parallel_for(here, pieces_of(source.size(), k_arcs_together), [&](std::uint64_t piece) {
        const std::uint64_t begin = piece * k_arcs_together;
        source.arcs(begin, std::min(begin + k_arcs_together, source.size()),
                    [&](std::uint64_t row, std::uint64_t, const auto&) { counts.async_add(row, 1); });
      });
    });
  }

  /// Moves the boundaries between the nodes' vertices so that each has about as many arcs and vertices together.
  void balance(global_array<std::uint64_t>& counts) {
    const std::uint64_t nodes = node_count();
    global_array<std::uint64_t> sums(nodes);
    global_array<std::uint64_t> bounds(nodes + 1, distribution::local);
    bounds->fill(vertices_);
    bounds->put(0, 0);
    spmd([counts = counts.ref(), sums = sums.ref(), bounds = bounds.ref()](team& t) {
      const auto own = counts.local();
      const auto weight_of = [&](std::size_t v) { return own[v] + 1; };
      std::uint64_t mine = 0;
      for (std::size_t v = 0; v < own.size(); ++v) mine += weight_of(v);
      sums.local()[0] = mine;
      t.barrier();
      std::vector<std::uint64_t> all(t.size());
      sums.get(0, std::span(all));
      const std::uint64_t total = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
      const std::uint64_t before = std::accumulate(all.begin(), all.begin() + t.rank(), std::uint64_t{0});
      // Part k begins with the first vertex before which there is k/n of the total.
      const auto goal = [&](std::uint64_t k) { return total / t.size() * k + total % t.size() * k / t.size(); };
      std::uint64_t k = 1;
      for (; k < t.size() && goal(k) <= before; ++k)
        if (t.rank() == 0) bounds.async_put(k, 0);  // there is too little for every node
      std::uint64_t sum = before;
      for (std::size_t v = 0; v < own.size(); ++v) {
        sum += weight_of(v);
        for (; k < t.size() && goal(k) <= sum; ++k) bounds.async_put(k, counts.local_range().first + v + 1);
      }
    });
    std::vector<std::uint64_t> at(nodes + 1);
    bounds->get(0, std::span(at));
    degrees_ = global_array<std::uint32_t>(vertices_, blocks_at(at));
    global_array<std::uint64_t> moved(vertices_, like(degrees_));
    moved->copy(0, counts.ref(), 0, vertices_);
    counts = std::move(moved);
  }

  /// Turns counts into offsets: each count becomes the place of the row's first entry. Allocates the entries.
  void lay_out(const array_ref<std::uint64_t>& cursors) {
    const std::uint32_t nodes = node_count();
    std::vector<std::uint64_t> row_bounds{0};
    for (std::uint32_t n = 0; n < nodes; ++n)
      row_bounds.push_back(row_bounds.back() + cursors.layout().local_range(n).count + 1);
    offsets_ = nodes == 1 ? global_array<std::uint64_t>(row_bounds.back())
                          : global_array<std::uint64_t>(row_bounds.back(), blocks_at(row_bounds));
    global_array<std::uint64_t> totals(nodes);
    spmd([cursors, offsets = offsets_.ref(), degrees = degrees_.ref(), totals = totals.ref()](team&) {
      const auto own = cursors.local();
      const auto begins = offsets.local();
      const auto lengths = degrees.local();
      std::uint64_t sum = 0;
      for (std::size_t v = 0; v < own.size(); ++v) {
        if (own[v] > 0xffffffff)
          throw error(errc::invalid_argument, "a vertex has 2^32 neighbours or more; such rows cannot be stored");
        lengths[v] = static_cast<std::uint32_t>(own[v]);
        begins[v] = sum;
        sum += std::exchange(own[v], sum);
      }
      begins[own.size()] = sum;
      totals.local()[0] = sum;
    });
    std::vector<std::uint64_t> bounds(nodes + std::size_t{1});
    totals->get(0, std::span(bounds).subspan(1));
    std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
    arcs_ = bounds.back();
    const distribution_plan plan =
        nodes == 1 || arcs_ == 0 ? distribution_plan(distribution::partition) : blocks_at(bounds);
    targets_ = global_array<Id>(arcs_, plan);
    if constexpr (k_weighted) weights_ = global_array<weight>(arcs_, plan);
  }

  /// The weight of an arc, where the graph has weights.
  template <class Given>
  static weight weight_or_none(const Given& given) noexcept {
    if constexpr (k_weighted)
      return static_cast<weight>(given);
    else
      return {};
  }

  template <class Source>
  void scatter(const Source& source, const array_ref<std::uint64_t>& cursors) const {
    using placer = arc_placer<Id, weight>;
    const node_local<placer> placers(cursors, targets_.ref(), weights_.ref());
    spmd([source, cursors, placers = placers.ref()](team&) {
      const auto own = cursors.local_range();
      placer& mine = *placers;
      parallel_for(here, pieces_of(source.size(), k_arcs_together), [&](std::uint64_t piece) {
        const std::uint64_t begin = piece * k_arcs_together;
        source.arcs(begin, std::min(begin + k_arcs_together, source.size()),
                    [&](std::uint64_t row, std::uint64_t target, const auto& with) {
                      const weight w = weight_or_none(with);
                      if (row - own.first < own.count)
                        return mine.add({static_cast<Id>(row - own.first), static_cast<Id>(target), w});
                      const std::uint32_t node = cursors.owner(row);
                      const auto there = static_cast<Id>(row - cursors.layout().local_range(node).first);
                      if constexpr (k_weighted)
                        async_invoke<place_arc<Id, weight>>(placers, node, there, static_cast<Id>(target), w);
                      else
                        async_invoke<place_arc<Id, weight>>(placers, node, there, static_cast<Id>(target));
                    });
      });
    });
  }

  /// The logarithm of the degree of every vertex, on every node: slot n * vertices + v is node n's copy.
  static void share_classes(const rows_type& g, const array_ref<std::uint8_t>& classes) {
    spmd([g, classes](team& t) {
      const auto own = g.degrees.local_range();
      const auto mine = classes.local().subspan(own.first, own.count);
      const auto degrees = g.degrees.local();
      for (std::uint64_t v = 0; v < own.count; ++v) mine[v] = static_cast<std::uint8_t>(std::bit_width(degrees[v]));
      for (std::uint32_t n = 1; n < t.size(); ++n)
        classes.async_put((t.rank() + n) % t.size() * g.vertices + own.first, std::span<const std::uint8_t>(mine));
      wait();
    });
  }

  /// Sorts the rows, drops duplicates, and closes the gaps.
  void finish_rows(const array_ref<std::uint64_t>& lengths, const row_options& options) {
    if (!options.sorted && !options.drop_duplicates && !options.highest_degree_first) return;
    const rows_type g = rows(graph::direction::both);
    global_array<std::uint8_t> classes;
    if (options.highest_degree_first) {
      classes = global_array<std::uint8_t>(node_count() * vertices_);
      share_classes(g, classes);
    }
    global_array<std::uint64_t> left(node_count());
    spmd([g, lengths, classes = classes.ref(), left = left.ref(), unique = options.drop_duplicates](team&) {
      const auto offsets = g.offsets.local();
      const auto sizes = lengths.local();
      const auto rank = classes.local();
      parallel_for(here, pieces_of(sizes.size(), 64), [&](std::uint64_t piece) {
        std::vector<std::pair<Id, weight>> room;
        for (std::uint64_t v = piece * 64; v < std::min<std::uint64_t>((piece + 1) * 64, sizes.size()); ++v) {
          const std::uint64_t length = offsets[v + 1] - offsets[v];
          const auto targets = g.targets.local().subspan(offsets[v], length);
          if constexpr (k_weighted)
            sizes[v] = order_row(targets, g.weights.local().subspan(offsets[v], length), rank, unique, room);
          else
            sizes[v] = order_row(targets, rank, unique);
        }
      });
      std::uint64_t kept = 0;
      for (std::uint64_t v = 0; v < sizes.size(); ++v) {
        const auto close = [&](const auto& all) {
          if (kept != offsets[v]) std::copy_n(all.begin() + offsets[v], sizes[v], all.begin() + kept);
        };
        close(g.targets.local());
        if constexpr (k_weighted) close(g.weights.local());
        g.degrees.local()[v] = static_cast<std::uint32_t>(sizes[v]);
        offsets[v] = std::exchange(kept, kept + sizes[v]);
      }
      offsets[sizes.size()] = kept;
      left.local()[0] = kept;
    });
    std::vector<std::uint64_t> kept(node_count());
    left->get(0, std::span(kept));
    arcs_ = std::accumulate(kept.begin(), kept.end(), std::uint64_t{0});
  }

  static std::uint64_t order_row(std::span<Id> row, std::span<const std::uint8_t> rank, bool unique) {
    std::sort(row.begin(), row.end());
    const auto end = unique ? std::unique(row.begin(), row.end()) : row.end();
    if (!rank.empty()) std::stable_sort(row.begin(), end, [&](Id a, Id b) { return rank[a] > rank[b]; });
    return static_cast<std::uint64_t>(end - row.begin());
  }
  static std::uint64_t order_row(std::span<Id> row, std::span<weight> weights, std::span<const std::uint8_t> rank,
                                 bool unique, std::vector<std::pair<Id, weight>>& room) {
    room.clear();
    for (std::size_t i = 0; i < row.size(); ++i) room.emplace_back(row[i], weights[i]);
    std::sort(room.begin(), room.end());
    if (unique)
      room.erase(std::unique(room.begin(), room.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                 room.end());
    if (!rank.empty())
      std::stable_sort(room.begin(), room.end(),
                       [&](const auto& a, const auto& b) { return rank[a.first] > rank[b.first]; });
    for (std::size_t i = 0; i < room.size(); ++i) std::tie(row[i], weights[i]) = room[i];
    return room.size();
  }

  std::uint64_t vertices_ = 0;
  std::uint64_t arcs_ = 0;
  global_array<std::uint32_t> degrees_;
  global_array<std::uint64_t> offsets_;
  global_array<Id> targets_;
  global_array<weight> weights_;
};

}  // namespace shoal::detail
