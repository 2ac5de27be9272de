// SPDX-License-Identifier: Apache-2.0
// Puts arcs into rows whose lengths are known, at the owners of the rows. Arcs from all nodes wait with the worker that
// got them, until so many are there that their memory accesses overlap.
// Who may call: tasks, and handlers through place_arc; never switches tasks.
// Guarantees: all arcs are in their rows, in any order, when the arc_placer is destroyed; nothing is on its way to it then.
// Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/detail/graph_rows.hpp"
#include "shoal/detail/invoke.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::detail {

/// Of so many arcs the memory accesses overlap.
inline constexpr std::uint64_t k_arcs_together = 64;

template <class Id, class Weight>
struct arc_in_row {
  Id row;  // counted from the node's first
  Id target;
  [[no_unique_address]] Weight weight;
};

/// A node's rows, and the arcs that wait for their places.
template <class Id, class Weight>
class arc_placer {
public:
  arc_placer(const array_ref<std::uint64_t>& cursors, const array_ref<Id>& targets, const array_ref<Weight>& weights)
      : cursors_(cursors.local()),
        targets_(targets.local()),
        weights_(weights.local()),
        workers_(worker_here().siblings),
        waiting_(new some[workers_]) {}
  arc_placer(const arc_placer&) = delete;
  arc_placer& operator=(const arc_placer&) = delete;
  ~arc_placer() {
    for (unsigned w = 0; w < workers_; ++w) place(waiting_[w]);
  }

  void add(const arc_in_row<Id, Weight>& arc) noexcept {
    const tsan_ignore_scope ignore;  // the worker's own, which all its stacks touch in turn
    some& mine = waiting_[worker_here().index];
    if (mine.size == mine.arcs.size()) place(mine);
    __builtin_prefetch(&cursors_[arc.row], 1);
    mine.arcs[mine.size++] = arc;
  }

private:
  struct alignas(64) some {
    std::size_t size = 0;
    std::array<arc_in_row<Id, Weight>, k_arcs_together> arcs;
  };

  void place(some& s) noexcept {
    const std::span now(s.arcs.data(), s.size);
    std::array<std::uint64_t, k_arcs_together> places;
    for (std::size_t k = 0; k < now.size(); ++k) {
      // Partners: the other workers of this node. What it orders is the place alone.
      places[k] = std::atomic_ref(cursors_[now[k].row]).fetch_add(1, std::memory_order_relaxed);
      __builtin_prefetch(&targets_[places[k]], 1);
    }
    for (std::size_t k = 0; k < now.size(); ++k) {
      targets_[places[k]] = now[k].target;
      if constexpr (!std::is_same_v<Weight, no_weight>) weights_[places[k]] = now[k].weight;
    }
    s.size = 0;
  }

  std::span<std::uint64_t> cursors_;  // the place of the next arc of each row
  std::span<Id> targets_;
  std::span<Weight> weights_;
  unsigned workers_;
  std::unique_ptr<some[]> waiting_;  // by worker
};

template <class Id, class Weight>
struct place_arc : at_node_local<arc_placer<Id, Weight>> {
  using arguments = std::tuple<Id, Id, Weight>;
  using result = nothing;
  static constexpr bool k_calls_program = false;
  static nothing run(arc_placer<Id, Weight>& placer, Id row, Id target, Weight weight) noexcept {
    placer.add({row, target, weight});
    return {};
  }
};
template <class Id>
struct place_arc<Id, no_weight> : at_node_local<arc_placer<Id, no_weight>> {
  using arguments = std::tuple<Id, Id>;
  using result = nothing;
  static constexpr bool k_calls_program = false;
  static nothing run(arc_placer<Id, no_weight>& placer, Id row, Id target) noexcept {
    placer.add({row, target, {}});
    return {};
  }
};

}  // namespace shoal::detail
