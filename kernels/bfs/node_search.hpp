// SPDX-License-Identifier: Apache-2.0
// The part of one node in a fast search: its state and the steps of a level. A global array holds one element per node;
// the pointers are valid on that node only. fast.cpp calls the steps on all nodes in turn.
// Top-down: the frontier is a window of `queue`. A neighbour that this node sees for the first time is claimed if it is
// its own; otherwise its owner is notified. Bottom-up: the frontier is a bitmap of all vertices, equal on every node;
// every own unreached vertex searches for a neighbour in it.
// Who may call: one task per node calls the steps; message handlers call discover(), also during a step.
// Guarantees: one atomic operation on its bit in `seen` claims a vertex, which enters the queue at most once.
// Source: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search" (SC 2012); SYSTEMS: hybrid BFS.
// Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "kernels/bfs/distributed_graph.hpp"
#include "shoal/on.hpp"

namespace shoal::kernels::bfs {

/// Vertices that a worker has found and not yet added to the queue, and its counters.
template <class Id>
struct alignas(64) found_vertices {
  static constexpr std::uint32_t k_most = 120;
  std::uint64_t arcs;  // arcs that leave these vertices
  std::uint64_t sent;  // pairs sent
  std::uint32_t size;
  Id some[k_most];
};

/// The totals of a level.
struct level_totals {
  std::uint64_t vertices = 0;  // vertices of the next frontier
  std::uint64_t arcs = 0;      // arcs that leave it (after a top-down step)
};

template <class Id>
struct node_search {
  static constexpr Id k_nobody = graph_view<Id>::k_nobody;

  // The graph.
  const std::uint64_t* offsets;
  const Id* targets;
  const Id* best;  // first neighbour of each own vertex, stored contiguously: most searches for a parent end there
  const std::uint64_t* alone;  // bitmap of own vertices with an empty row
  std::uint64_t first;         // own vertices
  std::uint64_t block;
  std::uint64_t slots;
  // The search.
  Id* parents;          // own
  Id* queue;            // own vertices in the order of discovery
  std::uint64_t* seen;  // bitmap of all vertices: reached as far as this node knows, or sent to their owners
  std::uint64_t* frontier[2];
  found_vertices<Id>* found;  // indexed by worker
  std::uint32_t workers;
  bool exclusive;       // only one worker, so no atomic operations are needed
  std::uint64_t begin;  // begin of the frontier in the queue
  std::uint64_t end;
  std::uint64_t tail;  // atomic; partners: the workers of this node

  std::uint64_t own_word() const noexcept { return first / 64; }
  std::uint64_t own_words() const noexcept { return block / 64; }
  std::uint64_t degree(std::uint64_t own) const noexcept { return offsets[own + 1] - offsets[own]; }

  bool was_seen(std::uint64_t vertex) const noexcept {
    return (std::atomic_ref(seen[vertex / 64]).load(std::memory_order_relaxed) >> vertex % 64 & 1) != 0;
  }

  /// Whether this call is the first to claim the vertex. Partners: the workers of this node.
  bool claim(std::uint64_t vertex) noexcept {
    if (was_seen(vertex)) return false;
    std::uint64_t& word = seen[vertex / 64];
    const std::uint64_t bit = std::uint64_t{1} << vertex % 64;
    if (exclusive) return word |= bit, true;
    return (std::atomic_ref(word).fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  /// Records an own vertex that was found over an arc from `parent`.
  void discover(std::uint64_t vertex, Id parent) noexcept {
    if (!claim(vertex)) return;
    const std::uint64_t own = vertex - first;
    parents[own] = parent;
    found_vertices<Id>& f = found[worker_id()];
    if (f.size == found_vertices<Id>::k_most) append(f);
    f.some[f.size++] = static_cast<Id>(vertex);
    __builtin_prefetch(offsets + own);  // for append()
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

  /// Converts this node's part of the frontier between queue and bitmap.
  void queue_to_bitmap(int now);
  void bitmap_to_queue(int now);
  /// Marks vertices of other nodes in the frontier as seen, so that they are not sent to their owners.
  void see_others(int now);
};

extern template struct node_search<std::uint32_t>;
extern template struct node_search<std::uint64_t>;

}  // namespace shoal::kernels::bfs
