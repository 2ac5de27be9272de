// SPDX-License-Identifier: Apache-2.0
// Sorts a global array whose parts are contiguous: each node sorts its part, all nodes find the cuts between the parts of
// the result, each run goes to its final owner in bulk, once, and each node merges the runs that it has received.
// Who may call: tasks. Switches tasks. Needs memory for as many elements again, on the nodes that hold them, which is
// there before anything is changed. Source: Siebert, Wolf, "A scalable parallel sorting algorithm using exact splitting"
// (2011). Shown by tests/cluster/sort_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/merge_parts.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/detail/sort_local.hpp"
#include "shoal/detail/sorted_cuts.hpp"
#include "shoal/team.hpp"

namespace shoal::detail {

/// Keys and values beside them, in global arrays of the same layout.
template <class Key, class Value>
struct array_columns {
  array_ref<Key> keys;
  array_ref<Value> values;

  columns<Key, Value> local() const noexcept {
    columns<Key, Value> c{keys.local().data(), nullptr};
    if constexpr (columns<Key, Value>::k_valued) c.values = values.local().data();
    return c;
  }
  /// Elements of this node's memory, to element `to` on; complete after wait().
  void async_put(std::uint64_t to, const columns<Key, Value>& from, std::size_t count) const {
    keys.async_put(to, std::span<const Key>(from.keys, count));
    if constexpr (columns<Key, Value>::k_valued) values.async_put(to, std::span<const Value>(from.values, count));
  }
};

template <class Local>
inline constexpr bool is_local_radix = false;
template <class Key, class Value>
inline constexpr bool is_local_radix<local_radix<Key, Value>> = true;

/// Brings the runs of this node's received part in order, from `received` to `own`.
template <class Key, class Value, class Local>
void join_runs(const columns<Key, Value>& received, const columns<Key, Value>& own,
               const std::vector<std::uint64_t>& counts, const Local& local, scratch_memory& room) {
  std::vector<std::uint64_t> bounds{0};
  for (const std::uint64_t c : counts)
    if (c > 0) bounds.push_back(bounds.back() + c);
  // A pass of merging takes about as long as one of distribution.
  constexpr std::size_t k_most_merged = 8;
  if constexpr (is_local_radix<Local>) {
    if (bounds.size() > k_most_merged + 1)
      return radix_sorter<Key, Value>(bounds.back()).run(received, own, room, true);
  }
  if (bounds.back() > 0) merge_parts(received, own, bounds, true, local.less);
}

/// A member's part of the sort. `parts`: the nodes that hold parts, in order of the parts.
template <class Key, class Value, class Local>
void sort_member(team& parts, const array_columns<Key, Value>& all, const array_columns<Key, Value>& spare,
                 const Local& local) {
  const array_layout& layout = all.keys.layout();
  const columns<Key, Value> own = all.local();
  const std::size_t count = all.keys.local().size();
  const std::size_t bytes = local.room_bytes(count);
  // Twice: a second sort may join the runs.
  scratch_memory room(2 * bytes, "sorting");
  parts.barrier();  // all have their memory: from here on elements move
  local.run(own, spare.local(), count, room);
  const std::uint32_t members = parts.size();
  std::vector<std::uint64_t> bounds(members + std::size_t{1}, layout.size);
  for (std::uint32_t p = 0; p < members; ++p) bounds[p] = layout.local_range(layout.node_of_part(p)).first;
  auto cuts =
      find_cuts<Key>(parts, std::span<const Key>(own.keys, count), std::span<const std::uint64_t>(bounds), local.less);
  std::vector<std::uint64_t> counts(members);
  for (std::uint32_t p = 0; p < members; ++p) counts[p] = cuts[p + 1] - cuts[p];
  std::vector<std::uint64_t> before = counts;
  parts.exscan(std::span(before), std::plus<>{});
  // All members have sorted, so their spare parts are free. Each begins with its right neighbour.
  for (std::uint32_t k = 1; k <= members; ++k) {
    const std::uint32_t p = (parts.rank() + k) % members;
    if (counts[p] > 0) spare.async_put(bounds[p] + before[p], own.from(cuts[p]), counts[p]);
  }
  const std::vector<std::uint64_t> received = parts.all_to_all(std::span<const std::uint64_t>(counts));
  parts.barrier();  // completes the puts
  join_runs(spare.local(), own, received, local, room);
}

template <class Key, class Value, class Local>
void sort_over_nodes(const array_columns<Key, Value>& all, const array_columns<Key, Value>& spare, const Local& local) {
  over_parts(all.keys.layout(), [all, spare, local](team& parts) { sort_member(parts, all, spare, local); });
}

}  // namespace shoal::detail
