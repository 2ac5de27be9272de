// SPDX-License-Identifier: Apache-2.0
// Where a loop runs: the first argument of parallel_for and parallel_reduce (parallel_for.hpp).
//   everywhere   equal, contiguous shares on all nodes
//   here         on this node: the body may hold references and pointers
//   anywhere     on this node, and on nodes that have nothing else to do, which take parts (parallel_for only)
//   elsewhere    equal shares on all nodes but this one; if there is no other node, the program ends with a message
//   owners_of(a) iteration i on the node that holds element i of the array `a`
// Who may call: anyone; they are values. Tests: tests/cluster/loop_test.cpp.
#pragma once

#include <concepts>

#include "shoal/array.hpp"

namespace shoal {

struct everywhere_t {};
struct anywhere_t {};
struct here_t {};
struct elsewhere_t {};
inline constexpr everywhere_t everywhere;
inline constexpr anywhere_t anywhere;
inline constexpr here_t here;
inline constexpr elsewhere_t elsewhere;

template <class T>
struct owners_of {
  explicit owners_of(const array_ref<T>& a) noexcept : layout(a.layout()) {}
  explicit owners_of(const global_array<T>& a) noexcept : layout(a.ref().layout()) {}
  detail::array_layout layout;
};

namespace detail {

template <class>
inline constexpr bool is_owners_of = false;
template <class T>
inline constexpr bool is_owners_of<owners_of<T>> = true;

}  // namespace detail

/// Places that divide a loop over nodes.
template <class T>
concept spread_place = std::same_as<T, everywhere_t> || std::same_as<T, elsewhere_t> || detail::is_owners_of<T>;
template <class T>
concept loop_place = std::same_as<T, here_t> || std::same_as<T, anywhere_t> || spread_place<T>;

}  // namespace shoal
