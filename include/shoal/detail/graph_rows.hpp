// SPDX-License-Identifier: Apache-2.0
// The rows of a distributed graph as handles, and as pointers to this node's part. The row of vertex v lies at the owner
// of element v of `degrees`; element v + owner(v) of `offsets` is its begin, counted from the owner's first target, and
// the next element its end.
// Who may call: tasks. Only row() and entry() may switch. Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/graph/edge.hpp"

namespace shoal::detail {

struct no_weight {};
template <class Weight>
using stored_weight = std::conditional_t<std::is_void_v<Weight>, no_weight, Weight>;

/// [first, last), as a range of forward iterators. Clang 14 cannot compile std::views::iota of GCC 12's library.
struct consecutive_numbers {
  struct iterator {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t operator*() const noexcept { return at; }
    iterator& operator++() noexcept {
      ++at;
      return *this;
    }
    iterator operator++(int) noexcept { return {at++}; }
    bool operator==(const iterator&) const = default;
    std::uint64_t at = 0;
  };
  iterator begin() const noexcept { return {first}; }
  iterator end() const noexcept { return {last}; }
  std::uint64_t size() const noexcept { return last - first; }
  bool empty() const noexcept { return first == last; }

  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

template <class Id, class Weight>
struct local_rows {
  std::uint64_t first = 0;  // the vertices [first, last)
  std::uint64_t last = 0;
  const std::uint64_t* offsets = nullptr;
  const Id* targets = nullptr;
  const stored_weight<Weight>* all_weights = nullptr;

  std::uint64_t size() const noexcept { return last - first; }
  bool contains(std::uint64_t v) const noexcept { return v - first < last - first; }
  std::uint64_t arcs() const noexcept { return offsets == nullptr ? 0 : offsets[last - first]; }
  std::uint64_t degree(std::uint64_t v) const noexcept { return offsets[v - first + 1] - offsets[v - first]; }
  std::span<const Id> neighbours(std::uint64_t v) const noexcept {
    return {targets + offsets[v - first], static_cast<std::size_t>(degree(v))};
  }
  std::span<const stored_weight<Weight>> weights(std::uint64_t v) const noexcept {
    return {all_weights + offsets[v - first], static_cast<std::size_t>(degree(v))};
  }
};

template <class Id, class Weight>
struct graph_rows {
  std::uint64_t vertices = 0;
  std::uint64_t arcs = 0;
  graph::direction way = graph::direction::both;
  array_ref<std::uint32_t> degrees;
  array_ref<std::uint64_t> offsets;
  array_ref<Id> targets;
  array_ref<stored_weight<Weight>> weights;

  local_rows<Id, Weight> local() const noexcept {
    if (vertices == 0) return {};
    const auto own = degrees.local_range();
    return {own.first, own.first + own.count, offsets.local().data(), targets.local().data(), weights.local().data()};
  }

  Id entry(std::uint64_t v, std::uint64_t k) const {
    const std::uint32_t node = degrees.owner(v);
    return targets.get(targets.layout().local_range(node).first + offsets.get(v + node) + k);
  }
  std::span<const Id> row(std::uint64_t v, std::vector<Id>& room) const {
    const auto at = offsets.layout().template locate<std::uint64_t>(v + degrees.owner(v));
    if (const std::byte* base = this_port().bases[at.node]; base != nullptr) {
      const auto* extent = reinterpret_cast<const std::uint64_t*>(base + at.offset);
      const auto* all = reinterpret_cast<const Id*>(base + targets.layout().offset);
      return {all + extent[0], static_cast<std::size_t>(extent[1] - extent[0])};
    }
    std::array<std::uint64_t, 2> extent;
    offsets.get(v + at.node, std::span(extent));
    room.resize(extent[1] - extent[0]);
    if (!room.empty()) targets.get(targets.layout().local_range(at.node).first + extent[0], std::span(room));
    return room;
  }
};

}  // namespace shoal::detail
