// SPDX-License-Identifier: Apache-2.0
// What one node does in a fast search: its part of the state, and the steps of a level. One element per node of a
// global array; its pointers are this node's own. fast.cpp calls the steps in turn on all nodes.
// Top-down: the frontier is a window of `queue`; a neighbour seen for the first time on this node is taken if it is
// ours and its owner is told otherwise. Bottom-up: the frontier is a bitmap of all vertices, the same on every node;
// every vertex of ours that is not yet reached looks for a neighbour in it.
// Who may call: the steps, one task per node; discover() whoever decodes messages, also while a step runs.
// Guarantees: each vertex is claimed by one atomic operation on its bit in `seen`, and enters the queue at most once.
// Source: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search" (SC 2012); SYSTEMS: hybrid BFS.
// Shown by tests/cluster/bfs_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "kernels/bfs/distributed_graph.hpp"
#include "shoal/on.hpp"

namespace shoal::kernels::bfs {

/// Vertices that a worker has found, before they join the queue; and what it counts.
template <class Id>
struct alignas(64) found_vertices {
  static constexpr std::uint32_t k_most = 120;
  std::uint64_t arcs;  // that leave what this worker found
  std::uint64_t sent;  // pairs
  std::uint32_t size;
  Id some[k_most];
};

/// What is known when a level has ended.
struct level_totals {
  std::uint64_t vertices = 0;  // of the next frontier
  std::uint64_t arcs = 0;      // that leave it (after a top-down step)
};

template <class Id>
struct node_search {
  static constexpr Id k_nobody = graph_view<Id>::k_nobody;

  // The graph
  const std::uint64_t* offsets;
  const Id* targets;
  const Id* best;              // first neighbour of each own vertex, gathered: most searches for a parent end there
  const std::uint64_t* alone;  // bitmap of own places that nothing leads to, because the row is empty
  std::uint64_t first;         // own vertices
  std::uint64_t block;
  std::uint64_t slots;
  // The search
  Id* parents;          // own
  Id* queue;            // own vertices in the order in which they were found
  std::uint64_t* seen;  // bitmap of all: reached as far as this node knows, or sent to their owners
  std::uint64_t* frontier[2];
  found_vertices<Id>* found;  // by worker
  std::uint32_t workers;
  bool exclusive;       // one worker: nobody else modifies
  std::uint64_t begin;  // the frontier in the queue
  std::uint64_t end;
  std::uint64_t tail;  // atomic; partners: the workers of this node

  std::uint64_t own_word() const noexcept { return first / 64; }
  std::uint64_t own_words() const noexcept { return block / 64; }
  std::uint64_t degree(std::uint64_t own) const noexcept { return offsets[own + 1] - offsets[own]; }

  bool was_seen(std::uint64_t vertex) const noexcept {
    return (std::atomic_ref(seen[vertex / 64]).load(std::memory_order_relaxed) >> vertex % 64 & 1) != 0;
  }

  /// Whether this call is the first to see the vertex. Partners: the workers of this node.
  bool claim(std::uint64_t vertex) noexcept {
    if (was_seen(vertex)) return false;
    std::uint64_t& word = seen[vertex / 64];
    const std::uint64_t bit = std::uint64_t{1} << vertex % 64;
    if (exclusive) return word |= bit, true;
    return (std::atomic_ref(word).fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  /// Found a vertex of ours over an arc from `parent`.
  void discover(std::uint64_t vertex, Id parent) noexcept {
    if (!claim(vertex)) return;
    const std::uint64_t own = vertex - first;
    parents[own] = parent;
    found_vertices<Id>& f = found[worker_id()];
    if (f.size == found_vertices<Id>::k_most) append(f);
    f.some[f.size++] = static_cast<Id>(vertex);
    __builtin_prefetch(offsets + own);  // for append
  }

  void append(found_vertices<Id>& f) noexcept {
    const std::uint64_t at = std::atomic_ref(tail).fetch_add(f.size, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < f.size; ++i) {
      queue[at + i] = f.some[i];
      f.arcs += degree(f.some[i] - first);
    }
    f.size = 0;
  }

  void reset();
  void set_root(std::uint64_t root);
  void top_down(const graph_view<Id>& g, symmetric_ptr<node_search> self);
  level_totals end_top_down();
  level_totals bottom_up(int now);

  /// The frontier from queue to bitmap (own part of it), and back.
  void queue_to_bitmap(int now);
  void bitmap_to_queue(int now);
  /// Vertices of others that are in the frontier need not be sent to their owners.
  void see_others(int now);
};

extern template struct node_search<std::uint32_t>;
extern template struct node_search<std::uint64_t>;

}  // namespace shoal::kernels::bfs
