// SPDX-License-Identifier: Apache-2.0
// Access to arrays by id, with verb and element type known only at run time: the base of the C interface and of layers
// for other languages.
// The templates of shoal/array.hpp are the fast path; both write the same commands and execute the same functions.
// Who may call: tasks of a job. The run_ functions and allocation may switch; the begin_ functions only when buffers
// are full. Their operations are complete after settle_all(), or when the task or loop ends.
// Guarantees: those of the templates. Every id, index, type and verb is checked, in all builds; a refused access has no
// effect. O(1) per element; no lock and no allocation on the path of an element.
// Shown by tests/cluster/untyped_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/command.hpp"

namespace shoal::array {

/// Why an access is refused.
enum class refusal : std::uint8_t {
  none,
  no_array,      // no array has this id, or it was freed
  out_of_range,  // the array does not have all of these elements
  wrong_type,    // the array's elements have another type, or another size
  no_such_verb,  // this type does not have this verb, or there is no such verb or type
  no_operand,    // a pointer that the verb needs is null
  unaligned,     // a pointer is not aligned as elements of 2, 4 or 8 bytes must be
};

/// The layout of array `id`, or nullptr. Valid until the array is freed.
const detail::array_layout* find(std::uint64_t id) noexcept;

/// The type of elements without a number type. Their verbs are put and get.
inline constexpr detail::element k_bytes_only = detail::element::count;

/// One operation on one element.
struct untyped_access {
  detail::verb what;
  /// Must be the array's element type. An array of bytes takes any type of its elements' size.
  detail::element type;
  std::uint64_t id;
  std::uint64_t index;
  const void* operand = nullptr;  // one element; compare_exchange: what is expected; not read by get
  const void* desired = nullptr;  // one element; only for compare_exchange
  void* result = nullptr;         // room for one element, for verbs that give the value before; begin: until settled
};

refusal run_access(const untyped_access& a);
refusal begin_access(const untyped_access& a);

/// `count` elements from `first` on, to or from memory of the caller: aligned as the elements where these are of 2, 4
/// or 8 bytes. begin_get: `target` must live until the operation is complete; begin_put copies before it returns.
refusal run_get(std::uint64_t id, std::uint64_t first, std::uint64_t count, void* target);
refusal run_put(std::uint64_t id, std::uint64_t first, std::uint64_t count, const void* values);
refusal begin_get(std::uint64_t id, std::uint64_t first, std::uint64_t count, void* target);
refusal begin_put(std::uint64_t id, std::uint64_t first, std::uint64_t count, const void* values);
/// values[k] = element indices[k], and the reverse; any index out of range: nothing is done, and `bad` is the first one.
refusal gather(std::uint64_t id, const std::uint64_t* indices, std::uint64_t count, void* values, std::uint64_t& bad);
refusal scatter(std::uint64_t id, const std::uint64_t* indices, std::uint64_t count, const void* values,
                std::uint64_t& bad);
/// Sets every element to `*value`. Elements of at most k_most_fill_bytes, else wrong_type.
refusal fill(std::uint64_t id, const void* value);
/// Both arrays must have elements of the same size.
refusal copy(std::uint64_t to, std::uint64_t to_first, std::uint64_t from, std::uint64_t from_first,
             std::uint64_t count);

}  // namespace shoal::array
