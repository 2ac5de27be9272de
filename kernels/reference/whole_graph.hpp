// SPDX-License-Identifier: Apache-2.0
// All rows of a distributed graph on one node, for the sequential references against which kernels are verified.
// Who may call: a task; it switches. Memory: the whole graph. Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shoal/graph.hpp"

namespace shoal::kernels::reference {

template <class Id, class Weight = void>
struct whole_graph {
  std::vector<std::uint64_t> offsets{0};
  std::vector<Id> targets;
  std::vector<detail::stored_weight<Weight>> weights;

  std::uint64_t vertices() const noexcept { return offsets.size() - 1; }
  std::uint64_t degree(std::uint64_t v) const noexcept { return offsets[v + 1] - offsets[v]; }
  std::span<const Id> row(std::uint64_t v) const noexcept { return std::span(targets).subspan(offsets[v], degree(v)); }
  auto row_weights(std::uint64_t v) const noexcept { return std::span(weights).subspan(offsets[v], degree(v)); }

  explicit whole_graph(const graph_ref<Id, Weight>& g) {
    const auto& rows = g.rows();
    std::vector<std::uint64_t> ends;
    for (std::uint32_t n = 0; n < node_count() && g.vertices() > 0; ++n) {
      const auto own = rows.degrees.layout().local_range(n);
      if (own.count == 0) continue;
      ends.resize(own.count + 1);
      rows.offsets.get(own.first + n, std::span(ends));
      const std::uint64_t before = targets.size();
      for (std::size_t v = 1; v < ends.size(); ++v) offsets.push_back(before + ends[v]);
      targets.resize(before + ends.back());
      if (ends.back() == 0) continue;
      const std::uint64_t first = rows.targets.layout().local_range(n).first;
      rows.targets.get(first, std::span(targets).subspan(before));
      if constexpr (!std::is_void_v<Weight>) {
        weights.resize(targets.size());
        rows.weights.get(first, std::span(weights).subspan(before));
      }
    }
  }
};

/// All elements of an array on this node.
template <class T>
std::vector<T> whole_array(const array_ref<T>& a) {
  std::vector<T> all(a.size());
  if (!all.empty()) a.get(0, std::span(all));
  return all;
}

}  // namespace shoal::kernels::reference
