// SPDX-License-Identifier: Apache-2.0
// A global array as algorithms that work part by part want it: each node's elements one behind the other in the array.
// Cyclic and block-cyclic arrays are copied to an array of equal blocks, and back.
// Who may call: tasks. Construction, put_back() and destruction may switch. Errors: shoal::error (out_of_memory).
// Shown by tests/cluster/sort_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/detail/scratch_memory.hpp"
#include "shoal/distribution.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

template <class T>
array_ref<T> handle_of(const array_ref<T>& a) noexcept {
  return a;
}
template <class T>
array_ref<T> handle_of(const global_array<T>& a) noexcept {
  return a.ref();
}
template <class T>
concept global_elements = requires(const T& a) {
  handle_of(a);
};

inline bool has_ordered_parts(const array_layout& layout) noexcept { return layout.has_whole_parts(); }
inline bool same_places(const array_layout& a, const array_layout& b) noexcept {
  if (a.kind != b.kind || a.size != b.size || a.first_node != b.first_node || a.node_count != b.node_count)
    return false;
  for (std::uint32_t part = 0; part < a.node_count; ++part)
    if (a.local_range(a.node_of_part(part)) != b.local_range(b.node_of_part(part))) return false;
  return true;
}

template <global_elements Array>
using element_in = typename decltype(handle_of(std::declval<const Array&>()))::value_type;

/// Runs body(team&) on the nodes that hold parts, with ranks in order of the parts. Returns what it returns on this
/// node, or, if this node holds no part, on that of the first one. Memory that is not there is shoal::error.
template <class Body>
auto over_parts(const array_layout& layout, const Body& body) {
  using result = std::invoke_result_t<const Body&, team&>;
  return spmd([layout, given = body](team& t) -> result {
    const auto guarded = [&given](team& members) -> result {
      return with_memory("an algorithm on a global array", [&] { return given(members); });
    };
    if (layout.node_count == t.size() && layout.first_node == 0) return guarded(t);
    const bool takes_part = layout.holds_part(node_id());
    team parts = t.split(takes_part ? 0 : 1, layout.part_of(node_id()));
    if constexpr (std::is_void_v<result>) {
      if (takes_part) guarded(parts);
    } else {
      const result mine = takes_part ? guarded(parts) : result{};
      const result first = t.broadcast(mine, layout.first_node);
      return takes_part ? mine : first;
    }
  });
}

template <class T>
class parts_in_order {
public:
  /// `wanted`: whether it matters.
  explicit parts_in_order(const array_ref<T>& array, bool wanted = true) : array_(array) {
    if (wanted && !has_ordered_parts(array.layout())) copy(distribution::partition);
  }
  /// With the places of another array.
  template <class U>
  parts_in_order(const array_ref<T>& array, const array_ref<U>& other, bool wanted) : array_(array) {
    if (wanted && !same_places(array.layout(), other.layout())) copy(like(other));
  }
  array_ref<T> ref() const noexcept { return copy_.size() > 0 ? copy_.ref() : array_; }
  void put_back() const {
    if (copy_.size() > 0) array_.copy(0, copy_.ref(), 0, array_.size());
  }

private:
  void copy(const distribution_plan& plan) {
    copy_ = global_array<T>(array_.size(), plan);
    copy_->copy(0, array_, 0, array_.size());
  }

  array_ref<T> array_;
  global_array<T> copy_;
};

}  // namespace shoal::detail
