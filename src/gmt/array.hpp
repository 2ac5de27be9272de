// SPDX-License-Identifier: Apache-2.0
// What a gmt_data_t is: the id of a global array (array/array_table.hpp), with the array's policy and flags in bits
// that ids do not use. So every function finds out all about an array with two loads.
//   bits 0-15 slot   16-21 alloc_type_t   22 it has a name   32-62 generation
// A replicated array of n elements is a global array of n elements per node; the elements of node k's copy begin at k *
// n.
// Who may call: tasks. None of these switches tasks. O(1), no lock.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <bit>
#include <cstdint>

#include "array/node_memory.hpp"
#include "array/untyped_access.hpp"
#include "gmt/gmt.h"
#include "gmt/misuse.hpp"
#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::gmt {

inline constexpr unsigned k_type_shift = 16;
inline constexpr std::uint64_t k_type_mask = std::uint64_t{0x3f} << k_type_shift;
inline constexpr std::uint64_t k_named = std::uint64_t{1} << 22;
inline constexpr std::uint64_t k_extra = k_type_mask | k_named;
static_assert(array::k_most_arrays <= 1U << k_type_shift);

inline constexpr int k_policy_mask = 7;
inline constexpr int k_storage_mask = GMT_ALLOC_DISK;

inline int type_of(gmt_data_t a) noexcept {
  return static_cast<int>((static_cast<std::uint64_t>(a) & k_type_mask) >> k_type_shift);
}
inline int policy_of(gmt_data_t a) noexcept { return type_of(a) & k_policy_mask; }
inline bool is_replicated(gmt_data_t a) noexcept { return policy_of(a) == GMT_ALLOC_REPLICATE; }
inline std::uint64_t id_of(gmt_data_t a) noexcept { return static_cast<std::uint64_t>(a) & ~k_extra; }

/// The array's name for programs.
inline gmt_data_t data_of(const detail::array_layout& layout, int type, bool named) noexcept {
  return static_cast<gmt_data_t>(layout.id() | static_cast<std::uint64_t>(type) << k_type_shift |
                                 (named ? k_named : 0));
}

/// nullptr: there is no such array.
inline const detail::array_layout* find(gmt_data_t a) noexcept {
  return detail::port_here().context->memory->arrays().find(id_of(a));
}
/// Elements, as the program sees it.
inline std::uint64_t size_of(gmt_data_t a, const detail::array_layout& layout) noexcept {
  return is_replicated(a) ? layout.size / layout.nodes : layout.size;
}

/// The layout of an array that has these elements; else ends the program. Where the array is replicated, `elem` becomes
/// the element of this node's copy.
inline const detail::array_layout& checked(const char* function, gmt_data_t a, std::uint64_t& elem,
                                           std::uint64_t count) noexcept {
  const detail::array_layout* const layout = find(a);
  if (layout == nullptr) [[unlikely]]
    refuse_elements(function, a, elem, count);
  if (is_replicated(a)) [[unlikely]] {
    const std::uint64_t size = layout->size / layout->nodes;
    if (count > size || elem > size - count) refuse_elements(function, a, elem, count);
    elem += detail::t_port->node * size;
  } else if (count > layout->size || elem > layout->size - count) [[unlikely]] {
    refuse_elements(function, a, elem, count);
  }
  return *layout;
}
inline const detail::array_layout& checked(const char* function, gmt_data_t a) noexcept {
  const detail::array_layout* const layout = find(a);
  if (layout == nullptr) [[unlikely]]
    refuse_elements(function, a, 0, 0);
  return *layout;
}

inline bool is_word(std::uint64_t bytes) noexcept { return bytes <= 8 && std::has_single_bit(bytes); }

}  // namespace shoal::gmt
