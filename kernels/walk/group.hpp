// SPDX-License-Identifier: Apache-2.0
// Walkers on the move: the random numbers of a walk, a walker as it travels, and walkers of one worker that go on
// together, so that the memory which one of them needs arrives while the others move.
// Who may call: tasks of the node (group), handlers (arrival). They do not wait.
// Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "shoal/graph.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/random.hpp"
#include "shoal/range.hpp"

namespace shoal::kernels::walk {

struct options {
  std::uint64_t length = 100;  // steps of a walker
  std::uint64_t seed = 1;
};

__extension__ using wide = unsigned __int128;

/// Where walker w of so many begins.
inline std::uint64_t first_vertex(std::uint64_t w, std::uint64_t walkers, std::uint64_t vertices) noexcept {
  return static_cast<std::uint64_t>(wide{w} * vertices / walkers);
}
/// The walkers that begin at the vertices of a node.
template <class Range>
range1d walkers_from(const Range& own, std::uint64_t walkers, std::uint64_t vertices) noexcept {
  const auto before = [&](std::uint64_t v) {  // walkers w with w * vertices / walkers < v
    return static_cast<std::uint64_t>((wide{v} * walkers + vertices - 1) / vertices);
  };
  return {before(own.first), before(own.first + own.count)};
}
/// Which neighbour walker w goes to.
inline std::uint64_t choice(std::uint64_t seed, std::uint64_t w, std::uint64_t step, std::uint64_t degree) noexcept {
  return static_cast<std::uint64_t>(wide{splitmix64::at(mix64(seed) ^ w, step)} * degree >> 64);
}
inline std::uint64_t traced(std::uint64_t trace, std::uint64_t v) noexcept { return mix64(trace + v); }

struct walker {
  std::uint64_t number = 0;
  std::uint64_t step = 0;
  std::uint64_t vertex = 0;
  std::uint64_t trace = 0;
};

/// What the walkers need on each node.
template <class Id>
struct place {
  place(const graph_ref<Id>& graph, const array_ref<std::uint64_t>& all_traces, const options& with)
      : g(graph), rows(graph.local()), traces(all_traces), o(with) {}

  graph_ref<Id> g;
  decltype(g.local()) rows;
  array_ref<std::uint64_t> traces;
  options o;
  std::atomic<std::uint64_t> steps{0};  // of walks that ended here. Partners: the node's workers
};

template <class Id>
struct arrival;

/// One step, or the end of the walk, or its continuation on another node; whether the walker is still here.
template <class Id>
bool move(node_local_ref<place<Id>> places, place<Id>& p, walker& w) {
  const std::uint64_t degree = w.step < p.o.length ? p.rows.degree(w.vertex) : 0;
  if (degree == 0) {
    p.traces.async_put(w.number, w.trace);
    p.steps.fetch_add(w.step, std::memory_order_relaxed);
    return false;
  }
  w.vertex = p.rows.neighbours(w.vertex)[choice(p.o.seed, w.number, w.step, degree)];
  w.trace = traced(w.trace, w.vertex);
  ++w.step;
  if (p.rows.contains(w.vertex)) return true;
  async_at(p.g.owner(w.vertex), arrival<Id>{places, w});
  return false;
}

/// The message that brings a walker to the owner of its vertex.
template <class Id>
struct arrival {
  node_local_ref<place<Id>> places;
  walker w;

  void operator()() const {
    walker here = w;
    place<Id>& p = *places;
    while (move(places, p, here)) {
    }
  }
};

/// Up to k_size walkers of one worker that take turns. The destructor lets the last ones go on to their ends.
template <class Id>
class group {
public:
  explicit group(node_local_ref<place<Id>> places) noexcept : places_(places), place_(*places) {}
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() {
    while (count_ > 0) move_all();
  }

  /// Its vertex is on this node.
  void add(const walker& w) {
    while (count_ == k_size) move_all();
    members_[count_++] = w;
  }

private:
  static constexpr std::size_t k_size = 32;

  void move_all() {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t* at = place_.rows.offsets + (members_[i].vertex - place_.rows.first);
      __builtin_prefetch(at);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const walker& w = members_[i];
      const auto row = place_.rows.neighbours(w.vertex);
      __builtin_prefetch(row.data() + choice(place_.o.seed, w.number, w.step, row.size()));
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      walker w = members_[i];
      if (move(places_, place_, w)) members_[left++] = w;
    }
    count_ = left;
  }

  node_local_ref<place<Id>> places_;
  place<Id>& place_;
  std::array<walker, k_size> members_;
  std::size_t count_ = 0;
};

}  // namespace shoal::kernels::walk
