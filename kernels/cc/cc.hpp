// SPDX-License-Identifier: Apache-2.0
// Connected components of an undirected graph (rows in both directions), in two forms. After both, the label of a vertex
// is the least vertex of its component. The simple one passes labels on until none changes.
// Who may call: a task; they switch. Test: tests/cluster/kernels_test.cpp; measured by `shoal cc`.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>

#include "kernels/cc/local_sets.hpp"
#include "kernels/reference/whole_graph.hpp"
#include "shoal/graph.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::cc {

/// Returns the number of rounds. `labels` is like the graph's degrees.
template <class Id>
std::uint64_t simple(const graph_ref<Id>& g, const array_ref<Id>& labels) {
  const global_array<Id> passed(g.vertices(), like(labels));  // the label that a vertex has passed on
  parallel_for(owners_of(labels), g.vertices(), [labels, passed = passed.ref()](std::uint64_t v) {
    labels.put(v, static_cast<Id>(v));
    passed.put(v, std::numeric_limits<Id>::max());
  });
  for (std::uint64_t rounds = 1;; ++rounds) {
    const std::uint64_t changed = parallel_reduce(
        owners_of(labels), g.vertices(), std::uint64_t{0},
        [g, labels, passed = passed.ref()](std::uint64_t v) -> std::uint64_t {
          const Id label = labels.get(v);
          if (passed.exchange(v, label) == label) return 0;
          for (const Id u : g.neighbours(v)) labels.async_min(u, label);
          return 1;
        },
        std::plus<>());
    if (changed == 0) return rounds;
  }
}

/// The fast form joins what a node can join by itself (local_sets.hpp). Then nodes exchange the labels of the vertices
/// that others know, a set takes the least it sees, tells the set of its former label (hook), and looks up the label of
/// its new one (jump), so that the number of rounds is logarithmic.
/// Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling" (2018);
/// Shiloach, Vishkin (1982). `known`: halo.values<Id>(); `labels` and `hooks` are like the graph's degrees.
template <class Id>
std::uint64_t fast(const halo_ref<Id>& halo, const array_ref<Id>& known, const array_ref<Id>& labels,
                   const array_ref<Id>& hooks) {
  const global_array<std::uint64_t> rounds(node_count());
  spmd([=, rounds = rounds.ref()](team& t) {
    const auto rows = halo.local();
    const auto ghosts = halo.ghosts();
    const auto own = labels.local();
    const auto hook = hooks.local();
    const auto seen = known.local();
    local_sets<Id> sets(rows, ghosts);
    sets.join(t.size() > 1);
    constexpr Id none = std::numeric_limits<Id>::max();
    const auto publish = [&] {
      parallel_for(here, 0, rows.own, [&](std::uint64_t i) { own[i] = sets.label_of(i), hook[i] = none; });
    };
    publish();
    std::uint64_t round = 0;
    for (bool changed = t.size() > 1; changed; ++round) {
      std::copy(own.begin(), own.end(), seen.begin());
      halo.exchange(t, known);
      std::uint64_t lowered = 0;
      for (std::size_t k = 0; k < ghosts.size(); ++k) {
        const Id before = sets.label_of(rows.own + k);
        if (!sets.lower(rows.own + k, seen[rows.own + k])) continue;
        hooks.async_min(before, seen[rows.own + k]);
        ++lowered;
      }
      t.barrier();
      for (std::uint64_t i = 0; i < rows.own; ++i) lowered += hook[i] != none && sets.lower(i, hook[i]) ? 1 : 0;
      lowered += sets.jump(labels);  // of labels that were published before this round
      t.barrier();
      publish();
      changed = t.all_reduce(lowered, std::plus<>()) > 0;
    }
    rounds.local()[0] = round;
  });
  return rounds->get(0);
}

/// The vertices that are the least of their component.
template <class Id>
std::uint64_t count(const array_ref<Id>& labels) {
  return parallel_reduce(
      owners_of(labels), labels.size(), std::uint64_t{0},
      [labels](std::uint64_t v) -> std::uint64_t { return labels.get(v) == v ? 1 : 0; }, std::plus<>());
}

/// What is wrong with the labels, compared with a sequential union-find; empty if nothing.
template <class Id>
std::string fault_of(const graph_ref<Id>& all, const array_ref<Id>& labels) {
  const reference::whole_graph<Id> g(all);
  const std::vector<Id> found = reference::whole_array(labels);
  std::vector<std::uint64_t> least(g.vertices());
  std::iota(least.begin(), least.end(), std::uint64_t{0});
  const auto root = [&](std::uint64_t v) {
    while (least[v] != v) v = least[v] = least[least[v]];
    return v;
  };
  for (std::uint64_t v = 0; v < g.vertices(); ++v)
    for (const Id u : g.row(v)) {
      const auto [low, high] = std::minmax({root(v), root(u)});
      least[high] = low;
    }
  for (std::uint64_t v = 0; v < g.vertices(); ++v)
    if (found[v] != root(v))
      return "vertex " + std::to_string(v) + " has label " + std::to_string(found[v]) + " instead of " +
             std::to_string(root(v));
  return {};
}

}  // namespace shoal::kernels::cc
