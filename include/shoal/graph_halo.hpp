// SPDX-License-Identifier: Apache-2.0
// Values of vertices as algorithms in rounds need them: on each node those of its own vertices and copies of those that
// its rows name (ghosts), in one plain array, with the rows as places in it. The copies are renewed in bulk.
//   shoal::graph_halo<> halo(g);
//   auto x = halo.values<float>();                                     own values first, then the ghosts'
//   shoal::spmd([h = halo.ref(), x = x.ref()](shoal::team& t) {
//     const auto rows = h.local();
//     for (std::uint64_t i = 0; i < rows.own; ++i) x.local()[i] = ...;  of vertex rows.first + i
//     h.exchange(t, x);                                                 now all of x.local() is up to date
//     for (std::uint64_t i = 0; i < rows.own; ++i) for (const auto s : rows.row(i)) sum += x.local()[s];
//   });
// Who may call: tasks; construction, values() and exchange() switch. Memory: 4 or 8 bytes per arc (none on one node) and
// while it is made two bits per vertex of the graph on each node. A round sends each value once to each node that needs it.
// Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shoal/detail/graph_halo.hpp"
#include "shoal/graph.hpp"

namespace shoal {

/// This node's rows as places in an array of values.
template <class Id>
struct halo_rows {
  std::uint64_t first = 0;  // the first own vertex
  std::uint64_t own = 0;    // vertices, places [0, own)
  std::uint64_t size = 0;   // places, those of ghosts included
  const std::uint64_t* offsets = nullptr;
  const Id* places = nullptr;

  std::span<const Id> row(std::uint64_t i) const noexcept {
    return {places + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

template <class Id>
class halo_ref {
public:
  halo_ref() = default;
  halo_ref(const graph_ref<Id>& g, node_local_ref<detail::halo_part<Id>> parts) noexcept : g_(g), parts_(parts) {}

  halo_rows<Id> local() const noexcept {
    const auto own = g_.local();
    const detail::halo_part<Id>& part = *parts_;
    return {own.first, own.size(), own.size() + part.ghosts.size(), own.offsets,
            part.places.empty() ? own.targets : part.places.data()};
  }
  /// The vertices that the places behind the own ones stand for, in ascending order.
  std::span<const Id> ghosts() const noexcept { return parts_->ghosts; }

  /// Sends this node's own values to the nodes that have copies. All members of the team call it; when it returns, the
  /// copies on this node are new.
  template <class T>
  void exchange(team& t, const array_ref<T>& values) const {
    if (t.size() == 1) return;
    t.barrier();  // nobody uses the old copies any more
    const std::span<const T> mine = values.local();
    std::vector<T> room;
    for (const detail::halo_receiver<Id>& to : parts_->receivers) {
      room.resize(to.vertices.size());
      parallel_for(
          here, 0, room.size(), [&](std::uint64_t i) { room[i] = mine[to.vertices[i]]; }, simple_partitioner{4096});
      values.async_put(values.layout().local_range(to.node).first + to.place, std::span<const T>(room));
    }
    t.barrier();
  }

private:
  graph_ref<Id> g_;
  node_local_ref<detail::halo_part<Id>> parts_;
};

/// Owns the lists of who needs what; move-only.
template <class Id = std::uint32_t>
class graph_halo {
public:
  explicit graph_halo(const graph_ref<Id>& g)
      : parts_(), ref_(g, parts_.ref()), bounds_(detail::make_halo(g.rows(), parts_.ref())) {}

  halo_ref<Id> ref() const noexcept { return ref_; }
  operator halo_ref<Id>() const noexcept { return ref_; }
  const halo_ref<Id>* operator->() const noexcept { return &ref_; }

  /// An array with one place per own vertex and ghost of each node, all zero.
  template <class T>
  global_array<T> values() const {
    if (node_count() == 1 || bounds_.back() == 0) return global_array<T>(bounds_.back());
    return global_array<T>(bounds_.back(), blocks_at(bounds_));
  }

private:
  node_local<detail::halo_part<Id>> parts_;
  halo_ref<Id> ref_;
  std::vector<std::uint64_t> bounds_;  // of the nodes' places in an array of values
};

}  // namespace shoal
